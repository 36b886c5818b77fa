alter table agent.plans drop column expires_at, drop column needed, drop column given;
alter table agent.api_keys drop column limits;
