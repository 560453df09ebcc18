// The eighth schema: a row for every model call, and sums, so that no query has to count rows.

export const usage = `
-- The team of the run's owner when the run was accepted; NULL without one, and for runs of before.
ALTER TABLE runs ADD COLUMN team_id TEXT;
-- Finished tool calls.
ALTER TABLE runs ADD COLUMN tool_count INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET tool_count = (SELECT count(*) FROM tool_calls c WHERE c.run_seq = runs.seq AND c.state = 'ended');
-- Runs that have not ended, with what tells whose they are.
CREATE INDEX runs_live ON runs (status, seq, session_seq, user_seq, team_id) WHERE finished_at IS NULL;
CREATE INDEX runs_ended ON runs (finished_at, status, session_seq)
  WHERE status IN ('completed', 'failed', 'canceled', 'incomplete');
CREATE INDEX sessions_recent ON sessions (updated_at) WHERE deleted_at IS NULL;
CREATE INDEX sessions_deleted ON sessions (deleted_at) WHERE deleted_at IS NOT NULL;

-- Model calls, written in the commit that keeps the reply, and kept when the session is deleted (§4.8 rule 7). Calls of
-- before this table have no rows: what a sub-agent or a summary used was kept as a part of its run's sum only.
CREATE TABLE usage_records (
  seq                INTEGER PRIMARY KEY,
  at                 INTEGER NOT NULL,
  session_seq        INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq            INTEGER REFERENCES runs (seq),
  user_seq           INTEGER NOT NULL REFERENCES users (seq),
  key_seq            INTEGER REFERENCES api_keys (seq),
  project_id         TEXT,
  -- The team of the user at that moment. A team may be gone later, so it is not referred to.
  team_id            TEXT,
  model              TEXT    NOT NULL,
  -- As in runs: with those read from and written to a cache.
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost_usd           REAL    NOT NULL
) STRICT;
CREATE INDEX usage_by_session ON usage_records (session_seq, at);

-- Sums of usage_records by quarter of an hour since 1970: days of every time zone begin with one. \`team_id\` is the record's
-- team, else its run's; where there is neither it is '', and \`user_seq\` says whose team of today it is (0 otherwise).
CREATE TABLE usage_quarters (
  quarter  INTEGER NOT NULL,
  team_id  TEXT    NOT NULL,
  user_seq INTEGER NOT NULL,
  tokens   INTEGER NOT NULL,
  cost_usd REAL    NOT NULL,
  PRIMARY KEY (quarter, team_id, user_seq)
) STRICT, WITHOUT ROWID;

-- The last quarter of an hour in which a session used anything for a team, with the meaning of the columns above: what was
-- used since the day began is what was last used since then. By source of the run (0: never), and at all.
CREATE TABLE session_activity (
  session_seq       INTEGER NOT NULL REFERENCES sessions (seq),
  team_id           TEXT    NOT NULL,
  user_seq          INTEGER NOT NULL,
  quarter           INTEGER NOT NULL,
  normal_quarter    INTEGER NOT NULL,
  scheduled_quarter INTEGER NOT NULL,
  PRIMARY KEY (session_seq, team_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_activity_by_team
  ON session_activity (team_id, user_seq, quarter, session_seq, normal_quarter, scheduled_quarter);

-- What a session has come to, counted as it grows. Tokens and cost are those of its runs, and of calls without a run.
CREATE TABLE session_totals (
  session_seq        INTEGER PRIMARY KEY REFERENCES sessions (seq),
  message_count      INTEGER NOT NULL DEFAULT 0,
  run_count          INTEGER NOT NULL DEFAULT 0,
  -- Finished tool calls (G20).
  tool_count         INTEGER NOT NULL DEFAULT 0,
  -- Files of its runs (§2.9, G20).
  artifact_count     INTEGER NOT NULL DEFAULT 0,
  input_tokens       INTEGER NOT NULL DEFAULT 0,
  output_tokens      INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd           REAL    NOT NULL DEFAULT 0
) STRICT;
INSERT INTO session_totals (session_seq, message_count, run_count, tool_count, artifact_count, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, cost_usd)
  SELECT s.seq, (SELECT count(*) FROM messages m WHERE m.session_seq = s.seq), count(r.seq), total(r.tool_count),
    (SELECT CAST(total(a.file_count) AS INTEGER) FROM runs o JOIN run_artifacts a ON a.run_seq = o.seq
     WHERE o.session_seq = s.seq),
    total(r.input_tokens), total(r.output_tokens), total(r.cache_read_tokens), total(r.cache_write_tokens),
    total(r.cost_usd)
  FROM sessions s LEFT JOIN runs r ON r.session_seq = s.seq GROUP BY s.seq;
`;
