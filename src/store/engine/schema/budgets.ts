// Model calls, their sums, and the budgets that they count against.

export const budgets = `
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
  cost_usd           REAL    NOT NULL,
  -- NULL in rows of before. \`step\`: of the reply, NULL for calls of sub-agents and for summaries. \`agent\`: the sub-agent.
  purpose            TEXT    CHECK (purpose = 'reply' OR purpose = 'agent' OR purpose = 'summary'),
  step               INTEGER,
  agent              TEXT,
  -- Durations, as the worker measured them; \`first_token_ms\` is NULL when no token came.
  tries              INTEGER,
  commit_wait_ms     INTEGER,
  permit_wait_ms     INTEGER,
  retry_wait_ms      INTEGER,
  first_token_ms     INTEGER,
  duration_ms        INTEGER,
  -- NULL in rows of before.
  budget_wait_ms     INTEGER,
  -- 1 when the server reported no count: its prompt and what was received of the reply are counted by their length.
  estimated          INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1)),
  -- Calls without a reply that was kept have used something all the same. 'lost': with the worker, or with the daemon.
  outcome            TEXT    NOT NULL DEFAULT 'ok' CHECK (outcome = 'ok' OR outcome = 'failed' OR outcome = 'stopped'
    OR outcome = 'lost')
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

CREATE TABLE budgets (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  subject    TEXT    NOT NULL CHECK (subject IN ('key', 'user', 'team', 'run')),
  key_seq    INTEGER REFERENCES api_keys (seq),
  user_seq   INTEGER REFERENCES users (seq),
  team_id    TEXT    REFERENCES teams (id),
  unit       TEXT    NOT NULL CHECK (unit IN ('usd', 'tokens')),
  period     TEXT    NOT NULL CHECK (period IN ('day', 'month', 'all')),
  timezone   TEXT    NOT NULL,
  amount     REAL    NOT NULL CHECK (amount >= 0),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((key_seq IS NOT NULL) = (subject = 'key')),
  CHECK ((user_seq IS NOT NULL) = (subject = 'user')),
  CHECK ((team_id IS NOT NULL) = (subject = 'team')),
  CHECK (subject <> 'run' OR period = 'all')
) STRICT;
CREATE UNIQUE INDEX budgets_of_key ON budgets (key_seq, unit, period) WHERE key_seq IS NOT NULL;
CREATE UNIQUE INDEX budgets_of_user ON budgets (user_seq, unit, period) WHERE user_seq IS NOT NULL;
CREATE UNIQUE INDEX budgets_of_team ON budgets (team_id, unit, period) WHERE team_id IS NOT NULL;
CREATE UNIQUE INDEX budgets_of_runs ON budgets (unit) WHERE subject = 'run';

-- What was used of a budget in each of its periods. Earlier ones stay for a while: the clock may be put back.
CREATE TABLE budget_periods (
  budget_seq INTEGER NOT NULL REFERENCES budgets (seq) ON DELETE CASCADE,
  starts_at  INTEGER NOT NULL,
  spent      REAL    NOT NULL,
  -- 1 when administrators were warned.
  warned     INTEGER NOT NULL DEFAULT 0 CHECK (warned IN (0, 1)),
  PRIMARY KEY (budget_seq, starts_at)
) STRICT, WITHOUT ROWID;

-- Endpoints of models that have answered as they are configured.
CREATE TABLE answered_endpoints (
  seq         INTEGER PRIMARY KEY,
  -- By an HMAC of the address and the credential.
  name        TEXT    NOT NULL UNIQUE,
  answered_at INTEGER NOT NULL
) STRICT;
`;
