alter table agent.approval_requests
  drop column reason, drop column needed, drop column given, drop column asked_before, drop column edited_input;
alter table execution.tool_calls
  drop column original_input, drop column plan_id, drop column plan_step, drop column settled_as, drop column settled_by;
drop table agent.plan_steps, agent.plans;
