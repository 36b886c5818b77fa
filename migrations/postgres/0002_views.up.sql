-- The read models. Written by the projector of Postgres alone, from facts; everything here can be made again.
--
-- Columns outside the key bear null: a row grows as its facts arrive, and `sequence` is the `seq` of the last one.
create schema projection;
create schema execution;
create schema chat;
create schema agent;

-- How far each projection is: everything up to `seq` is in it.
create table projection.cursors (
  projection text        primary key,
  seq        bigint      not null,
  updated_at timestamptz not null default now()
);

-- A turn, or a call outside one, as it runs. A turn's execution has the turn's id.
create table execution.executions (
  tenant_id           uuid not null,
  workspace_id        uuid not null,
  id                  uuid not null,
  kind                text,           -- turn | direct
  status              text,           -- queued | running | paused | completed | failed | cancelled
  conversation_id     uuid,
  turn_id             uuid,
  call_id             uuid,           -- of a direct execution
  user_message_id     uuid,
  message_id          uuid,           -- the assistant's
  agent_id            uuid,
  agent_version_id    uuid,
  model               text,
  budget              jsonb,
  requested_by        uuid,
  runner_id           uuid,
  epoch               bigint,
  input_tokens        bigint,
  output_tokens       bigint,
  error               jsonb,          -- {code, message}
  requested_at        timestamptz,
  started_at          timestamptz,
  finished_at         timestamptz,
  cancel_requested_at timestamptz,
  updated_at          timestamptz,    -- of its last fact, its calls' included
  sequence            bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index executions_conversation on execution.executions (tenant_id, workspace_id, conversation_id);
create index executions_unfinished on execution.executions (updated_at) where finished_at is null;

-- A model call of a turn, or the one call of a direct execution.
create table execution.execution_steps (
  tenant_id     uuid not null,
  workspace_id  uuid not null,
  id            uuid not null,
  execution_id  uuid,
  number        integer,
  kind          text,                 -- model | call
  attempt       integer,
  status        text,                 -- running | completed | failed | cancelled
  model         text,
  finish        text,
  input_tokens  bigint,
  output_tokens bigint,
  error         jsonb,
  started_at    timestamptz,
  finished_at   timestamptz,
  sequence      bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index execution_steps_execution on execution.execution_steps (tenant_id, workspace_id, execution_id, number);

create table execution.tool_calls (
  tenant_id          uuid not null,
  workspace_id       uuid not null,
  id                 uuid not null,
  conversation_id    uuid,
  message_id         uuid,
  turn_id            uuid,
  execution_id       uuid,
  execution_step_id  uuid,
  capability         text,
  tool_version_id    uuid,
  origin             text,            -- api | agent
  effect             text,            -- read | write | external
  risk_level         text,            -- low | medium | high
  status             text,            -- requested | held | cleared | started | completed | failed | cancelled | denied | in_doubt
  attempt            integer,
  input              jsonb,           -- whole, or the beginning of a body kept as an object
  input_ref          text,
  input_digest       text,
  output             jsonb,
  output_ref         text,
  error              jsonb,           -- {code, message, flaws?}
  policy_rule        text,
  required_approval  boolean,
  approval_id        uuid,
  external_provider  text,
  external_server_id uuid,
  provider_call_id   text,
  requested_by       uuid,
  runner_id          uuid,
  requested_at       timestamptz,
  started_at         timestamptz,
  finished_at        timestamptz,
  latency_ms         bigint,
  sequence           bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index tool_calls_conversation on execution.tool_calls (tenant_id, workspace_id, conversation_id);
create index tool_calls_execution on execution.tool_calls (tenant_id, workspace_id, execution_id);
create index tool_calls_newest on execution.tool_calls (tenant_id, workspace_id, requested_at desc);

-- What is to happen at a time unless something else happens first.
create table execution.timers (
  tenant_id    uuid not null,
  workspace_id uuid not null,
  id           uuid not null,         -- of what it belongs to
  kind         text,                  -- approval_expiry
  due_at       timestamptz,
  closed_at    timestamptz,
  sequence     bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index timers_open on execution.timers (due_at) where closed_at is null;

create table chat.conversations (
  tenant_id    uuid not null,
  workspace_id uuid not null,
  id           uuid not null,
  title        text,
  is_archived  boolean,
  created_at   timestamptz,
  updated_at   timestamptz,
  sequence     bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index conversations_newest on chat.conversations (tenant_id, workspace_id, created_at desc, id desc);

-- Messages in a graph: each follows its parent. Blocks are in the order of their facts and name theirs in `seq`.
create table chat.messages (
  tenant_id         uuid not null,
  workspace_id      uuid not null,
  id                uuid not null,
  conversation_id   uuid  not null,
  parent_message_id uuid,
  role              text  not null,   -- user | assistant
  turn_id           uuid  not null,
  blocks            jsonb not null,
  created_at        timestamptz not null,
  sequence          bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create unique index messages_turn on chat.messages (tenant_id, workspace_id, turn_id, role);
create index messages_conversation on chat.messages (tenant_id, workspace_id, conversation_id, created_at);

create table agent.workspaces (
  tenant_id    uuid not null,
  workspace_id uuid not null,
  id           uuid not null,
  name         text,
  created_at   timestamptz,
  sequence     bigint not null,
  primary key (tenant_id, workspace_id, id)
);

-- What a workspace permits; `id` is the workspace's.
create table agent.policies (
  tenant_id    uuid not null,
  workspace_id uuid not null,
  id           uuid not null,
  version      bigint,
  document     jsonb,
  risk_ceiling text,
  set_at       timestamptz,
  sequence     bigint not null,
  primary key (tenant_id, workspace_id, id)
);

create table agent.tools (
  tenant_id         uuid not null,
  workspace_id      uuid not null,
  id                uuid not null,
  capability        text,
  description       text,
  category          text,
  effect            text,
  risk_level        text,
  requires_approval boolean,
  tool_version_id   uuid,             -- the newest
  sequence          bigint not null,
  primary key (tenant_id, workspace_id, id)
);

create table agent.tool_versions (
  tenant_id     uuid not null,
  workspace_id  uuid not null,
  id            uuid not null,
  tool_id       uuid,
  capability    text,
  schema_digest text,
  published_at  timestamptz,
  sequence      bigint not null,
  primary key (tenant_id, workspace_id, id)
);

create table agent.agents (
  tenant_id               uuid not null,
  workspace_id            uuid not null,
  id                      uuid not null,
  name                    text,
  latest_agent_version_id uuid,
  created_at              timestamptz,
  sequence                bigint not null,
  primary key (tenant_id, workspace_id, id)
);

create table agent.agent_versions (
  tenant_id    uuid not null,
  workspace_id uuid not null,
  id           uuid not null,
  agent_id     uuid,
  number       integer,
  instructions text,
  published_at timestamptz,
  sequence     bigint not null,
  primary key (tenant_id, workspace_id, id)
);

create table agent.approval_requests (
  tenant_id           uuid not null,
  workspace_id        uuid not null,
  id                  uuid not null,
  conversation_id     uuid,
  turn_id             uuid,
  execution_step_id   uuid,
  tool_call_id        uuid,
  capability          text,
  input               jsonb,
  input_digest        text,
  risk_level          text,
  policy_rule         text,
  requested_by        uuid,
  requested_at        timestamptz,
  expires_at          timestamptz,
  resolved_at         timestamptz,
  resolution          text,           -- approved | denied | expired | superseded
  resolved_by_user_id uuid,
  note                text,
  sequence            bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index approval_requests_expiry on agent.approval_requests (tenant_id, workspace_id, expires_at, id);
create index approval_requests_open on agent.approval_requests (tenant_id, workspace_id, turn_id)
  where resolved_at is null;

-- Never the key, nor its hash: those are in the journal.
create table agent.api_keys (
  tenant_id    uuid not null,
  workspace_id uuid not null,
  id           uuid not null,
  name         text,
  user_id      uuid,
  role         text,
  created_at   timestamptz,
  revoked_at   timestamptz,
  sequence     bigint not null,
  primary key (tenant_id, workspace_id, id)
);
create index api_keys_newest on agent.api_keys (tenant_id, workspace_id, created_at desc, id desc);

-- Which tools a workspace's policy lets an agent call. A view as policy and catalogue change apart from each other.
create view agent.tool_assignments with (security_invoker = true) as
select t.tenant_id, t.workspace_id, t.id as tool_id, t.capability,
       array_position(array['low', 'medium', 'high'], t.risk_level)
         <= array_position(array['low', 'medium', 'high'], p.risk_ceiling)
       and (t.risk_level <> 'high' or p.document -> 'enabled' ? t.capability) as is_enabled_in_workspace,
       greatest(t.sequence, p.sequence) as sequence
from agent.tools t join agent.policies p using (tenant_id, workspace_id);

-- The settings that open rows. A setting that was local to an earlier transaction reads as an empty text.
create function projection.tenant() returns uuid stable parallel safe language sql
  return nullif(current_setting('oxagen.tenant', true), '')::uuid;
create function projection.workspace() returns uuid stable parallel safe language sql
  return nullif(current_setting('oxagen.workspace', true), '')::uuid;

-- Row level security, forced, so that it binds the owner as well. Who reads sees the workspace that the settings
-- name, and without them nothing. The runtime itself (projector, sweep, timers) crosses tenants: as the owner, and
-- only in a transaction that says so with `oxagen.runtime`. The reader's role cannot open that door.
do $do$
declare
  entry record;
begin
  for entry in
    select table_schema as s, table_name as t from information_schema.tables
    where table_schema in ('execution', 'chat', 'agent') and table_type = 'BASE TABLE'
  loop
    execute format('alter table %I.%I enable row level security, force row level security', entry.s, entry.t);
    execute format('create policy one_workspace on %I.%I for select
      using (tenant_id = projection.tenant() and workspace_id = projection.workspace())', entry.s, entry.t);
    execute format('create policy runtime on %I.%I to current_user
      using (current_setting(''oxagen.runtime'', true) = ''on'')', entry.s, entry.t);
  end loop;
end $do$;

grant usage on schema projection, execution, chat, agent to oxagen_reader;
grant select on all tables in schema projection, execution, chat, agent to oxagen_reader;
