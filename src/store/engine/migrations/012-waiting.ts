// Waiting for the user is a state of a run: a status of its own instead of a flag in addition to 'running'.

// The table is rebuilt, because SQLite changes no constraint in place.
export const waiting = `
CREATE TABLE runs_rebuilt (
  seq                INTEGER PRIMARY KEY,
  id                 TEXT    NOT NULL UNIQUE,
  session_seq        INTEGER NOT NULL REFERENCES sessions (seq),
  user_seq           INTEGER NOT NULL REFERENCES users (seq),
  key_seq            INTEGER NOT NULL REFERENCES api_keys (seq),
  -- The team of the run's owner when the run was accepted; NULL without one, and for runs of before.
  team_id            TEXT,
  protocol           TEXT    NOT NULL CHECK (protocol IN ('chat', 'messages')),
  -- 'waiting': for its user, without a worker and without a slot; reported as 'running' (I2).
  status             TEXT    NOT NULL CHECK (status IN
                       ('queued', 'running', 'waiting', 'finalizing', 'completed', 'failed', 'canceled', 'incomplete')),
  schedule_mode      TEXT    NOT NULL CHECK (schedule_mode IN ('immediate', 'queued', 'background', 'scheduled')),
  -- 1 when no earlier run of the session is unfinished: only such runs may be claimed.
  ready              INTEGER NOT NULL CHECK (ready IN (0, 1)),
  attempt            INTEGER NOT NULL DEFAULT 0,
  resumes            INTEGER NOT NULL DEFAULT 0,
  lease_until        INTEGER,
  requested_model    TEXT    NOT NULL,
  model              TEXT,
  include_usage      INTEGER NOT NULL CHECK (include_usage IN (0, 1)),
  -- 1 when the run's request created its session; such requests have idempotency keys of their own (D4).
  opened_session     INTEGER NOT NULL CHECK (opened_session IN (0, 1)),
  idempotency_key    TEXT,
  target             TEXT    NOT NULL,
  input_tokens       INTEGER NOT NULL DEFAULT 0,
  output_tokens      INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd           REAL    NOT NULL DEFAULT 0,
  tool_count         INTEGER NOT NULL DEFAULT 0,
  stop_reason        TEXT,
  error              TEXT,
  outcome            TEXT    CHECK (outcome IN ('completed', 'failed', 'incomplete')),
  answer             TEXT,
  -- Schema of the result the run must submit; NULL when its answer is text.
  output_schema      TEXT,
  -- The submitted result as JSON text: 'null' is a result, NULL is none.
  structured_output  TEXT,
  background_payload TEXT,
  -- Runs of before there were artifacts have none of their own (§3.2).
  artifact_status    TEXT    NOT NULL DEFAULT 'unavailable'
                       CHECK (artifact_status IN ('pending', 'ready', 'failed', 'unavailable')),
  -- On the clock that does not jump: a wait for a worker is measured from here.
  queued_steady_at   INTEGER NOT NULL,
  -- Milliseconds that a worker was at the run until \`worked_until\`, a moment on the clock that does not jump.
  worked_ms          INTEGER NOT NULL DEFAULT 0,
  worked_until       INTEGER NOT NULL DEFAULT 0,
  created_at         INTEGER NOT NULL,
  started_at         INTEGER,
  finished_at        INTEGER,
  CHECK (outcome IS NOT 'completed' OR (output_schema IS NULL) = (structured_output IS NULL)),
  CHECK ((finished_at IS NOT NULL) = (status IN ('completed', 'failed', 'canceled', 'incomplete')))
) STRICT;
INSERT INTO runs_rebuilt (seq, id, session_seq, user_seq, key_seq, team_id, protocol, status, schedule_mode, ready, attempt,
    resumes, lease_until, requested_model, model, include_usage, opened_session, idempotency_key, target, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, tool_count, stop_reason, error, outcome, answer,
    output_schema, structured_output, background_payload, artifact_status, queued_steady_at, worked_ms, worked_until,
    created_at, started_at, finished_at)
  SELECT seq, id, session_seq, user_seq, key_seq, team_id, protocol,
    CASE WHEN status = 'running' AND waiting = 1 THEN 'waiting' ELSE status END, schedule_mode, ready, attempt,
    resumes, lease_until, requested_model, model, include_usage, opened_session, idempotency_key, target, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, tool_count, stop_reason, error, outcome, answer,
    output_schema, structured_output, background_payload, artifact_status, queued_steady_at, worked_ms, worked_until,
    created_at, started_at, finished_at
  FROM runs;
DROP TABLE runs;
ALTER TABLE runs_rebuilt RENAME TO runs;

CREATE INDEX runs_claimable ON runs (key_seq, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode <> 'background';
CREATE INDEX runs_claimable_background ON runs (key_seq, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode = 'background';
CREATE INDEX runs_waiting_background ON runs (seq) WHERE status = 'queued' AND schedule_mode = 'background';
CREATE INDEX runs_unfinished_background ON runs (user_seq, key_seq)
  WHERE status IN ('queued', 'running', 'waiting', 'finalizing') AND schedule_mode = 'background';
CREATE INDEX runs_unfinished ON runs (session_seq, seq)
  WHERE status IN ('queued', 'running', 'waiting', 'finalizing');
CREATE INDEX runs_executing ON runs (key_seq) WHERE status IN ('running', 'finalizing');
CREATE INDEX runs_by_session ON runs (session_seq, seq);
CREATE UNIQUE INDEX runs_by_opening_key ON runs (user_seq, key_seq, target, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND opened_session = 1 AND schedule_mode <> 'background';
CREATE UNIQUE INDEX runs_by_continuing_key ON runs (session_seq, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND opened_session = 0 AND schedule_mode <> 'background';
CREATE UNIQUE INDEX runs_by_background_key ON runs (key_seq, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND schedule_mode = 'background';
CREATE INDEX runs_to_collect ON runs (session_seq, seq) WHERE artifact_status = 'pending' AND finished_at IS NOT NULL;
CREATE INDEX runs_failed ON runs (session_seq, seq) WHERE status IN ('failed', 'incomplete');
CREATE INDEX runs_live ON runs (status, seq, session_seq, user_seq, team_id) WHERE finished_at IS NULL;
CREATE INDEX runs_ended ON runs (finished_at, status, session_seq)
  WHERE status IN ('completed', 'failed', 'canceled', 'incomplete');
`;
