// Model calls that their server did not count, and what must be known of calls in progress to record them after a crash.

export const estimatedCalls = `
-- NULL in rows of before.
ALTER TABLE usage_records ADD COLUMN budget_wait_ms INTEGER;
-- 1 when the server reported no count: its prompt and what was received of the reply are counted by their length.
ALTER TABLE usage_records ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1));
-- Calls without a reply that was kept have used something all the same. 'lost': with the worker, or with the daemon.
ALTER TABLE usage_records ADD COLUMN outcome TEXT NOT NULL DEFAULT 'ok' CHECK (outcome IN ('ok', 'failed', 'stopped', 'lost'));

-- Model calls that budgets pay for, once they are in progress for a while: what is recorded of each when the daemon is killed.
-- What they hold back is known in memory.
DROP TABLE budget_reservations;
CREATE TABLE calls_in_progress (
  run_seq      INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
  model        TEXT    NOT NULL,
  -- Of the prompt, estimated.
  input_tokens INTEGER NOT NULL,
  cost_usd     REAL    NOT NULL
) STRICT;
`;
