// Calls in progress are known to all nodes: by whom they are paid, how much they may use, and where their runs execute.

export const heldCalls = `
CREATE TABLE calls_of_before AS SELECT * FROM calls_in_progress;
DROP TABLE calls_in_progress;
CREATE TABLE calls_in_progress (
  run_seq      INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  attempt      INTEGER NOT NULL,
  -- Where the run executed then; NULL in rows of before.
  node_id      TEXT,
  -- Whose budgets it uses.
  key_seq      INTEGER,
  user_seq     INTEGER NOT NULL,
  team_id      TEXT,
  -- What it may use at most.
  most_tokens  INTEGER NOT NULL,
  most_usd     REAL    NOT NULL,
  model        TEXT    NOT NULL,
  -- Of the prompt, estimated.
  input_tokens INTEGER NOT NULL,
  cost_usd     REAL    NOT NULL,
  PRIMARY KEY (run_seq, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_in_progress_by_key ON calls_in_progress (key_seq) WHERE key_seq IS NOT NULL;
CREATE INDEX calls_in_progress_by_user ON calls_in_progress (user_seq);
CREATE INDEX calls_in_progress_by_team ON calls_in_progress (team_id) WHERE team_id IS NOT NULL;
-- Calls that a daemon of before has left, which is stopped.
INSERT INTO calls_in_progress
  SELECT c.run_seq, r.attempt, r.node_id, r.key_seq, r.user_seq, coalesce(u.team_id, r.team_id), c.input_tokens, c.cost_usd,
    c.model, c.input_tokens, c.cost_usd
  FROM calls_of_before c JOIN runs r ON r.seq = c.run_seq JOIN users u ON u.seq = r.user_seq;
DROP TABLE calls_of_before;
`;
