// What is removed by age: what is left of it is found through an index, and what was removed says so.
export const retention = `
-- When the journal of the run was removed, and its tool calls; NULL while they are kept.
ALTER TABLE runs ADD COLUMN events_removed_at INTEGER;
ALTER TABLE runs ADD COLUMN details_removed_at INTEGER;
CREATE INDEX runs_with_events ON runs (finished_at) WHERE finished_at IS NOT NULL AND events_removed_at IS NULL;
CREATE INDEX runs_with_details ON runs (finished_at) WHERE finished_at IS NOT NULL AND details_removed_at IS NULL;
CREATE INDEX events_of_sessions_by_age ON events (created_at) WHERE run_seq IS NULL;

-- The wall time that was last seen, so that a clock that jumps ahead removes nothing at once.
CREATE TABLE retention_clock (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  seen_at    INTEGER NOT NULL,
  -- Nothing is removed by age before this moment; NULL without a jump.
  held_until INTEGER
) STRICT;

-- One row, once entries were removed: the last of them, which the chain continues from.
CREATE TABLE audit_start (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  removed_id   INTEGER NOT NULL,
  removed_hash TEXT    NOT NULL,
  removed_at   INTEGER NOT NULL,
  -- HMAC over the above, under the key of audit_head.
  seal         TEXT    NOT NULL
) STRICT;
`;
