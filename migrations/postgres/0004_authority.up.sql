-- Plans and their steps; what a person edited, settled, and on which terms a person is asked.

-- A plan that an agent puts to a person; `version` is the one that counts.
create table agent.plans (
  tenant_id           uuid not null,
  workspace_id        uuid not null,
  id                  uuid not null,
  conversation_id     uuid,
  turn_id             uuid,
  call_id             uuid,           -- that made it
  title               text,
  rationale           text,
  version             integer,
  status              text,           -- proposed | approved | rejected | superseded
  requested_by        uuid,
  proposed_at         timestamptz,
  resolved_at         timestamptz,
  resolved_by_user_id uuid,
  note                text,
  sequence            bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index plans_turn on agent.plans (tenant_id, workspace_id, turn_id);

-- The steps of each version of a plan, in their order.
create table agent.plan_steps (
  tenant_id    uuid not null,
  workspace_id uuid not null,
  id           uuid not null,
  plan_id      uuid,
  version      integer,
  position     integer,
  step_id      text,
  summary      text,
  intent       text,
  capability   text,
  input        jsonb,
  depends_on   jsonb,
  status       text,                  -- pending | running | completed | failed | cancelled | denied | in_doubt
  call_id      uuid,
  sequence     bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index plan_steps_plan on agent.plan_steps (tenant_id, workspace_id, plan_id, version, position);

alter table execution.tool_calls
  add column original_input jsonb,    -- as it was asked for, when a person edited it
  add column plan_id        uuid,
  add column plan_step      text,
  add column settled_as     text,     -- done | not_done | run_again
  add column settled_by     uuid;
create index tool_calls_in_doubt on execution.tool_calls (tenant_id, workspace_id, requested_at desc)
  where status = 'in_doubt';

alter table agent.approval_requests
  add column reason       text,
  add column needed       integer,
  add column given        integer,
  add column asked_before integer,
  add column edited_input jsonb;

do $do$
declare
  entry text;
begin
  foreach entry in array array['plans', 'plan_steps'] loop
    execute format('alter table agent.%I enable row level security, force row level security', entry);
    execute format('create policy one_workspace on agent.%I for select
      using (tenant_id = projection.tenant() and workspace_id = projection.workspace())', entry);
    execute format('create policy runtime on agent.%I to current_user
      using (current_setting(''oxagen.runtime'', true) = ''on'')', entry);
  end loop;
end $do$;
grant select on agent.plans, agent.plan_steps to oxagen_reader;
