-- Limits of keys; plans that close by themselves, or that several people approve.
alter table agent.api_keys
  add column limits jsonb;            -- what the key is limited to, below its role; null for nothing
alter table agent.plans
  add column expires_at timestamptz,  -- of the version that counts
  add column needed     integer,
  add column given      integer;
