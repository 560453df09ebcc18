// The first schema: people, keys, sessions, runs with their steps, messages, attachments, and the journal.

export const foundation = `
CREATE TABLE teams (
  seq         INTEGER PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  name        TEXT    NOT NULL UNIQUE,
  budget_usd  REAL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  seq             INTEGER PRIMARY KEY,
  id              TEXT    NOT NULL UNIQUE,
  username        TEXT    NOT NULL UNIQUE,
  full_name       TEXT    NOT NULL,
  department      TEXT    NOT NULL,
  role            TEXT    NOT NULL CHECK (role IN ('admin', 'user')),
  team_id         TEXT    REFERENCES teams (id),
  functional_role TEXT,
  scenario        TEXT,
  disabled        INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  password_hash   TEXT    NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  seq           INTEGER PRIMARY KEY,
  id            TEXT    NOT NULL UNIQUE,
  user_seq      INTEGER NOT NULL REFERENCES users (seq),
  name          TEXT    NOT NULL,
  scope         TEXT    NOT NULL CHECK (scope IN ('conversation', 'global', 'admin')),
  secret_sha256 BLOB    NOT NULL,
  last_four     TEXT    NOT NULL,
  model         TEXT,
  target        TEXT    NOT NULL,
  project_id    TEXT,
  expires_at    INTEGER,
  last_used_at  INTEGER,
  revoked_at    INTEGER,
  -- JSON of the capabilities that differ from none at all (§2.10).
  capability_config TEXT NOT NULL DEFAULT '{}',
  created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX api_keys_by_user ON api_keys (user_seq);

-- What login tokens are signed with. The secret is derived from the salt and the master key, so neither is enough.
CREATE TABLE signing_keys (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  salt       BLOB    NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER,
  revoked_at INTEGER,
  CHECK (revoked_at IS NULL OR retired_at IS NOT NULL)
) STRICT;
-- One key signs.
CREATE UNIQUE INDEX signing_keys_current ON signing_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

CREATE TABLE sessions (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  user_seq   INTEGER NOT NULL REFERENCES users (seq),
  key_seq    INTEGER REFERENCES api_keys (seq),
  kind       TEXT    NOT NULL CHECK (kind IN ('chat', 'api', 'scheduled')),
  title      TEXT    NOT NULL,
  status     TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed', 'stopped')),
  project_id TEXT,
  -- The last stop (§3.3): when it was committed, when the executor was known to have ended, and who asked for it.
  stop_requested_at INTEGER,
  stop_confirmed_at INTEGER,
  stop_cause        TEXT CHECK (stop_cause IN ('user_requested_stop', 'operator_requested_stop', 'session_deleted')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  CHECK ((stop_cause IS NULL) = (stop_requested_at IS NULL)),
  CHECK (stop_confirmed_at IS NULL OR stop_requested_at IS NOT NULL)
) STRICT;
-- With deleted_at as a column, not as a condition: so lists are counted in the index alone.
CREATE INDEX sessions_by_key ON sessions (key_seq, kind, deleted_at, updated_at DESC, created_at DESC, seq DESC);
CREATE INDEX sessions_by_user ON sessions (user_seq, deleted_at, seq, key_seq);
CREATE INDEX sessions_stopping ON sessions (seq) WHERE stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL;

-- Deleted sessions whose files are still to be removed (E9).
CREATE TABLE cleanups (
  session_seq INTEGER PRIMARY KEY REFERENCES sessions (seq),
  created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
  seq                INTEGER PRIMARY KEY,
  id                 TEXT    NOT NULL UNIQUE,
  session_seq        INTEGER NOT NULL REFERENCES sessions (seq),
  user_seq           INTEGER NOT NULL REFERENCES users (seq),
  key_seq            INTEGER NOT NULL REFERENCES api_keys (seq),
  protocol           TEXT    NOT NULL CHECK (protocol IN ('chat', 'messages')),
  status             TEXT    NOT NULL CHECK (status IN
                       ('queued', 'running', 'finalizing', 'completed', 'failed', 'canceled', 'incomplete')),
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
  stop_reason        TEXT,
  error              TEXT,
  outcome            TEXT    CHECK (outcome IN ('completed', 'failed', 'incomplete')),
  answer             TEXT,
  -- Schema of the result the run must submit; NULL when its answer is text.
  output_schema      TEXT,
  -- The submitted result as JSON text: 'null' is a result, NULL is none.
  structured_output  TEXT,
  background_payload TEXT,
  -- On the clock that does not jump: a wait for a worker is measured from here.
  queued_steady_at   INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  started_at         INTEGER,
  finished_at        INTEGER,
  CHECK (outcome IS NOT 'completed' OR (output_schema IS NULL) = (structured_output IS NULL)),
  CHECK ((finished_at IS NOT NULL) = (status IN ('completed', 'failed', 'canceled', 'incomplete')))
) STRICT;
CREATE INDEX runs_claimable ON runs (key_seq, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode <> 'background';
CREATE INDEX runs_claimable_background ON runs (key_seq, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode = 'background';
CREATE INDEX runs_waiting_background ON runs (seq) WHERE status = 'queued' AND schedule_mode = 'background';
CREATE INDEX runs_unfinished_background ON runs (user_seq, key_seq)
  WHERE status IN ('queued', 'running', 'finalizing') AND schedule_mode = 'background';
CREATE INDEX runs_executing ON runs (key_seq) WHERE status IN ('running', 'finalizing');
CREATE INDEX runs_unfinished ON runs (session_seq, seq) WHERE status IN ('queued', 'running', 'finalizing');
CREATE INDEX runs_by_session ON runs (session_seq, seq);
CREATE UNIQUE INDEX runs_by_opening_key ON runs (user_seq, key_seq, target, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND opened_session = 1 AND schedule_mode <> 'background';
CREATE UNIQUE INDEX runs_by_continuing_key ON runs (session_seq, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND opened_session = 0 AND schedule_mode <> 'background';
CREATE UNIQUE INDEX runs_by_background_key ON runs (key_seq, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND schedule_mode = 'background';

CREATE TABLE worker_nodes (
  id               TEXT    PRIMARY KEY,
  capacity         INTEGER NOT NULL,
  supports_openapi INTEGER NOT NULL CHECK (supports_openapi IN (0, 1)),
  -- On the clock that does not jump; 0 once the node has left.
  heartbeat_at     INTEGER NOT NULL,
  registered_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE messages (
  id           INTEGER PRIMARY KEY,
  session_seq  INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq      INTEGER NOT NULL REFERENCES runs (seq),
  role         TEXT    NOT NULL CHECK (role IN ('user', 'assistant')),
  content      TEXT    NOT NULL,
  text_preview TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  UNIQUE (run_seq, role)
) STRICT;
CREATE INDEX messages_by_session ON messages (session_seq, id);

CREATE TABLE attachments (
  seq            INTEGER PRIMARY KEY,
  id             TEXT    NOT NULL UNIQUE,
  user_seq       INTEGER NOT NULL REFERENCES users (seq),
  message_id     INTEGER NOT NULL REFERENCES messages (id),
  name           TEXT    NOT NULL,
  -- Where the API finds it again: attachments/<uuid>/<safe name> (C4).
  path           TEXT    NOT NULL,
  -- Where the agent finds it: /uploads/<name>.
  workspace_path TEXT    NOT NULL,
  mime_type      TEXT    NOT NULL,
  size           INTEGER NOT NULL,
  sha256         TEXT    NOT NULL,
  created_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX attachments_by_message ON attachments (message_id);
CREATE INDEX attachments_by_path ON attachments (path);
CREATE INDEX attachments_by_content ON attachments (sha256);

CREATE TABLE steps (
  run_seq            INTEGER NOT NULL REFERENCES runs (seq),
  step               INTEGER NOT NULL,
  attempt            INTEGER NOT NULL,
  kind               TEXT    NOT NULL,
  message            TEXT    NOT NULL,
  text               TEXT    NOT NULL,
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  PRIMARY KEY (run_seq, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_calls (
  run_seq     INTEGER NOT NULL,
  step        INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  tool_use_id TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  input       TEXT    NOT NULL,
  -- 'running' has begun and has no recorded result: after a crash its outcome is unknown (D7).
  state       TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'ended')),
  ok          INTEGER CHECK (ok IN (0, 1)),
  output      TEXT,
  duration_ms INTEGER,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (run_seq, step, position),
  FOREIGN KEY (run_seq, step) REFERENCES steps (run_seq, step),
  CHECK ((output IS NOT NULL) = (state = 'ended'))
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  id          INTEGER PRIMARY KEY,
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq     INTEGER REFERENCES runs (seq),
  stream_seq  INTEGER,
  type        TEXT    NOT NULL,
  payload     TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  CHECK ((run_seq IS NULL) = (stream_seq IS NULL))
) STRICT;
CREATE UNIQUE INDEX events_by_run ON events (run_seq, stream_seq) WHERE run_seq IS NOT NULL;
-- One terminal event per run, whatever goes wrong elsewhere.
CREATE UNIQUE INDEX events_terminal ON events (run_seq) WHERE type IN ('run.done', 'run.failed', 'run.stopped');
`;
