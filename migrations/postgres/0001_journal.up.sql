-- The journal: the source of truth. Everything else can be made again from it.
create schema journal;

-- Append-only. The first seven columns are postgres-es's; it takes any unique violation for a lost race, so the
-- primary key is the only thing here that can be violated (`position` is never written by hand).
-- `json` and not `jsonb`: a body must come back as it was written, and a digest over it must stay right.
create table journal.events (
  aggregate_type  text        not null,
  aggregate_id    text        not null,
  sequence        bigint      not null check (sequence > 0),
  event_type      text        not null,
  event_version   text        not null,
  payload         json        not null,
  metadata        json        not null,
  -- Cache 1: whoever has seen an event committed writes at a larger position.
  position        bigint      not null generated always as identity (cache 1),
  xid             xid8        not null default pg_current_xact_id(),
  occurred_at     timestamptz not null default clock_timestamp(),
  recorded_at     timestamptz not null default clock_timestamp(),
  tenant_id       uuid        not null generated always as ((metadata ->> 'tenantId')::uuid) stored,
  workspace_id    uuid        not null generated always as ((metadata ->> 'workspaceId')::uuid) stored,
  conversation_id uuid        generated always as ((metadata ->> 'conversationId')::uuid) stored,
  turn_id         uuid        generated always as ((metadata ->> 'turnId')::uuid) stored,
  primary key (aggregate_type, aggregate_id, sequence)
);
create unique index events_position on journal.events (position);
create index events_xid on journal.events (xid);
create index events_occurred_at on journal.events (occurred_at);
create index events_turn on journal.events (turn_id) where turn_id is not null;

-- Each event's place in history. Append-only, written by the relay alone.
create table journal.sequence (
  seq             bigint primary key,
  position        bigint not null,
  tenant_id       uuid   not null,
  workspace_id    uuid   not null,
  conversation_id uuid
);
create unique index sequence_position on journal.sequence (position);
create index sequence_workspace on journal.sequence (tenant_id, workspace_id, seq);
create index sequence_conversation on journal.sequence (conversation_id, seq) where conversation_id is not null;

-- What the relay has looked at. Transaction ids mean something on one cluster only, hence the identifier.
create table journal.sequencer_state (
  id                int         primary key check (id = 1),
  snapshot          pg_snapshot not null,
  system_identifier bigint      not null
);
insert into journal.sequencer_state (id, snapshot, system_identifier)
select 1, '1:1:', system_identifier from pg_control_system();

-- Large bodies, written before the fact that names them.
create table journal.objects (
  tenant_id  uuid        not null,
  digest     text        not null,
  bytes      bytea       not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, digest)
);

-- Facts that a reader gave up on.
create table journal.dead_letters (
  reader   text        not null,
  seq      bigint      not null,
  error    text        not null,
  attempts int         not null,
  first_at timestamptz not null,
  last_at  timestamptz not null,
  primary key (reader, seq)
);
