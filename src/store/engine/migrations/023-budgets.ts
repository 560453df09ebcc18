// Budgets of keys, users, teams and runs; that of a team becomes one by day.

export const budgets = `
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

-- What model calls in progress may use at most. A row counts while its attempt holds the run, so a crash leaves nothing behind.
CREATE TABLE budget_reservations (
  budget_seq INTEGER NOT NULL REFERENCES budgets (seq) ON DELETE CASCADE,
  run_seq    INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  attempt    INTEGER NOT NULL,
  amount     REAL    NOT NULL,
  PRIMARY KEY (budget_seq, run_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX budget_reservations_by_run ON budget_reservations (run_seq);

-- Office Mode has compared a team's budget with its cost of the day; 0 was shown as none.
INSERT INTO budgets (id, subject, team_id, unit, period, timezone, amount, created_at, updated_at)
  SELECT substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-4' || substr(h, 14, 3) || '-8' || substr(h, 18, 3) || '-' || substr(h, 21, 12),
    'team', id, 'usd', 'day', 'UTC', budget_usd, updated_at, updated_at
  FROM (SELECT id, budget_usd, updated_at, lower(hex(randomblob(16))) AS h FROM teams WHERE budget_usd > 0);
-- What these teams have used since the last day with any usage began.
INSERT INTO budget_periods (budget_seq, starts_at, spent)
  SELECT b.seq, day.first * 900000, coalesce((SELECT sum(q.cost_usd) FROM usage_quarters q
      WHERE q.quarter >= day.first AND q.team_id = b.team_id), 0)
  FROM budgets b JOIN (SELECT max(quarter) / 96 * 96 AS first FROM usage_quarters) day ON day.first IS NOT NULL;
ALTER TABLE teams DROP COLUMN budget_usd;
`;
