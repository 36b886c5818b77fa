-- Appending and loading in one round trip each, for as many commits and aggregates as wait for it at the moment.

-- Aggregates as they stood at a version, so that a long history need not be folded from its first event. A cache: it
-- may be emptied at any time, and a program ignores what another form of its code has written.
create table journal.snapshots (
  aggregate_type text   not null,
  aggregate_id   text   not null,
  version        bigint not null check (version > 0),
  form           text   not null,
  state          json   not null,
  -- Of the first event: whose the aggregate is.
  metadata       json   not null,
  primary key (aggregate_type, aggregate_id)
);

-- Appends the events of several commits, each of them whole or not at all. A commit rests on aggregates that must
-- stand at their versions: those that it writes, at the one before, and those that it was decided by. Gives the
-- ordinals of what has not stood and the positions of the events of all other commits, in order.
--
-- No two of the commits may touch the same aggregate, unless both only rest on it. The plans are fixed: they follow
-- the indexes whatever the statistics say, and are not made anew for arrays of other lengths.
create function journal.append(
  lock_keys int8[], lock_exclusive bool[],
  rest_commits int4[], rest_types text[], rest_ids text[], rest_versions int8[],
  event_commits int4[], event_types text[], event_ids text[], event_sequences int8[], event_kinds text[],
  event_forms text[], event_payloads text[], event_metadata text[], event_times timestamptz[],
  out fallen int8[], out positions int8[])
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  refused int4[];
begin
  perform case when l.exclusive then pg_advisory_xact_lock(l.key)::text else pg_advisory_xact_lock_shared(l.key)::text end
  from unnest(lock_keys, lock_exclusive) as l (key, exclusive);

  -- A statement of its own: its snapshot is younger than the locks, and shows what their last holders wrote.
  select coalesce(array_agg(r.nth order by r.nth), '{}'), coalesce(array_agg(r.nth_commit), '{}') into fallen, refused
  from unnest(rest_commits, rest_types, rest_ids, rest_versions) with ordinality as r (nth_commit, type, id, version, nth)
  where r.version <> coalesce((select max(e.sequence) from journal.events e
                               where e.aggregate_type = r.type and e.aggregate_id = r.id), 0);

  with inserted as (
    insert into journal.events
      (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, occurred_at)
    select e.type, e.id, e.sequence, e.kind, e.form, e.payload::json, e.metadata::json, e.at
    from unnest(event_commits, event_types, event_ids, event_sequences, event_kinds, event_forms, event_payloads,
                event_metadata, event_times)
      with ordinality as e (nth_commit, type, id, sequence, kind, form, payload, metadata, at, nth)
    where e.nth_commit <> all (refused)
    order by e.nth
    returning events.position)
  select coalesce(array_agg(i.position order by i.position), '{}') into positions from inserted i;
end
$$;

-- The events of several aggregates, in order, by the ordinal of each. Where there is a snapshot of this form it comes
-- first, without a type, and the events after it follow.
create function journal.load(wanted_types text[], wanted_ids text[], own_form text)
returns table (nth int8, sequence int8, event_type text, event_version text, payload text, metadata text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return query
    select w.nth, s.version, null::text, s.form, s.state::text, s.metadata::text
    from unnest(wanted_types, wanted_ids) with ordinality as w (type, id, nth)
    join journal.snapshots s on s.aggregate_type = w.type and s.aggregate_id = w.id and s.form = own_form;
  return query
    select w.nth, e.sequence, e.event_type, e.event_version, e.payload::text, e.metadata::text
    from unnest(wanted_types, wanted_ids) with ordinality as w (type, id, nth)
    join journal.events e on e.aggregate_type = w.type and e.aggregate_id = w.id
    where e.sequence > coalesce((select s.version from journal.snapshots s
                                 where s.aggregate_type = w.type and s.aggregate_id = w.id and s.form = own_form), 0)
    order by w.nth, e.sequence;
end
$$;
