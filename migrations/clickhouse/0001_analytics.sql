-- A row may arrive twice and late: the one with the highest sequence stays. Readers use the views with FINAL.
-- Partition and TTL are on columns that never change, or two versions of a row would never meet.
create table if not exists tool_invocations (
  tenant_id       UUID,
  workspace_id    UUID,
  conversation_id Nullable(UUID),
  turn_id         Nullable(UUID),
  execution_id    UUID,
  call_id         UUID,
  capability      LowCardinality(String),
  tool_version_id UUID,
  surface         LowCardinality(String),
  effect          LowCardinality(String),
  risk_level      LowCardinality(String),
  status          LowCardinality(String),
  attempt         UInt32,
  policy_rule     LowCardinality(String),
  requested_at    DateTime64(3, 'UTC'),
  started_at      Nullable(DateTime64(3, 'UTC')),
  finished_at     DateTime64(3, 'UTC'),
  latency_ms      UInt64,
  input_bytes     UInt64,
  output_bytes    UInt64,
  error_code      LowCardinality(String),
  sequence        UInt64
) engine = ReplacingMergeTree(sequence)
partition by toYYYYMM(requested_at)
order by (tenant_id, workspace_id, call_id)
ttl toDateTime(requested_at) + interval 180 day
settings non_replicated_deduplication_window = 1000;

create table if not exists events (
  tenant_id         UUID,
  workspace_id      UUID,
  event_id          UUID,
  event_type        LowCardinality(String),
  aggregate_type    LowCardinality(String),
  aggregate_id      String,
  aggregate_version UInt64,
  conversation_id   Nullable(UUID),
  turn_id           Nullable(UUID),
  actor_kind        LowCardinality(String),
  actor_id          String,
  causation_id      UUID,
  correlation_id    UUID,
  at                DateTime64(3, 'UTC'),
  payload           String,
  payload_bytes     UInt64,
  sequence          UInt64
) engine = ReplacingMergeTree(sequence)
partition by toYYYYMM(at)
order by (tenant_id, workspace_id, event_id)
ttl toDateTime(at) + interval 90 day
settings non_replicated_deduplication_window = 1000;

create table if not exists token_usage (
  tenant_id         UUID,
  workspace_id      UUID,
  execution_step_id UUID,
  execution_id      UUID,
  conversation_id   Nullable(UUID),
  turn_id           Nullable(UUID),
  step              UInt32,
  attempt           UInt32,
  model             LowCardinality(String),
  input_tokens      UInt64,
  output_tokens     UInt64,
  at                DateTime64(3, 'UTC'),
  sequence          UInt64
) engine = ReplacingMergeTree(sequence)
partition by toYYYYMM(at)
order by (tenant_id, workspace_id, execution_step_id)
ttl toDateTime(at) + interval 365 day
settings non_replicated_deduplication_window = 1000;

create view if not exists tool_invocations_final as select * from tool_invocations final;
create view if not exists events_final as select * from events final;
create view if not exists token_usage_final as select * from token_usage final;
