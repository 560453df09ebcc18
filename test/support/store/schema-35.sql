-- The schema of version 35, the oldest that is migrated, as its database file says it.
CREATE TABLE teams (
  seq         INTEGER PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  name        TEXT    NOT NULL UNIQUE,
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
, account TEXT NOT NULL DEFAULT '', exact_only INTEGER NOT NULL DEFAULT 0 CHECK (exact_only IN (0, 1)), token_generation INTEGER NOT NULL DEFAULT 0, workspace_bytes INTEGER NOT NULL DEFAULT 0) STRICT;

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
, listed_sessions INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX api_keys_by_user ON api_keys (user_seq);

CREATE TABLE signing_keys (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  salt       BLOB    NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER,
  revoked_at INTEGER,
  CHECK (revoked_at IS NULL OR retired_at IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX signing_keys_current ON signing_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

CREATE TABLE sessions (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  user_seq   INTEGER NOT NULL REFERENCES users (seq),
  key_seq    INTEGER REFERENCES api_keys (seq),
  kind       TEXT    NOT NULL CHECK (kind = 'chat' OR kind = 'api' OR kind = 'scheduled'),
  title      TEXT    NOT NULL,
  status     TEXT    NOT NULL CHECK (status = 'pending' OR status = 'running' OR status = 'completed' OR status = 'failed' OR status = 'stopped'),
  project_id TEXT,
  -- The last stop (§3.3): when it was committed, when the executor was known to have ended, and who asked for it.
  stop_requested_at INTEGER,
  stop_confirmed_at INTEGER,
  stop_cause        TEXT CHECK (stop_cause = 'user_requested_stop' OR stop_cause = 'operator_requested_stop' OR stop_cause = 'session_deleted'),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER, target TEXT NOT NULL DEFAULT 'free', capability_config TEXT NOT NULL DEFAULT '{}', orchestration TEXT, lead_model TEXT, workspace_removed_at INTEGER, workspace_checked_at INTEGER,
  CHECK ((stop_cause IS NULL) = (stop_requested_at IS NULL)),
  CHECK (stop_confirmed_at IS NULL OR stop_requested_at IS NOT NULL)
) STRICT;

CREATE INDEX sessions_by_key ON sessions (key_seq, kind, deleted_at, updated_at DESC, created_at DESC, seq DESC);

CREATE INDEX sessions_by_user ON sessions (user_seq, deleted_at, seq, key_seq);

CREATE INDEX sessions_stopping ON sessions (seq) WHERE stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL;

CREATE TABLE cleanups (
  session_seq INTEGER PRIMARY KEY REFERENCES sessions (seq),
  created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE worker_nodes (
  id               TEXT    PRIMARY KEY,
  capacity         INTEGER NOT NULL,
  supports_openapi INTEGER NOT NULL CHECK (supports_openapi IN (0, 1)),
  -- On the clock that does not jump; 0 once the node has left.
  registered_at    INTEGER NOT NULL
, beats INTEGER) STRICT;

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
  created_at         INTEGER NOT NULL, system_tokens  INTEGER NOT NULL DEFAULT 0, history_tokens INTEGER NOT NULL DEFAULT 0, tools_tokens   INTEGER NOT NULL DEFAULT 0, setup INTEGER REFERENCES run_setups (seq) ON DELETE SET NULL,
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

CREATE TABLE definition_ids (
  id   INTEGER PRIMARY KEY,
  kind TEXT    NOT NULL CHECK (kind IN ('mcp_server', 'skill', 'plugin', 'expert')),
  name TEXT    NOT NULL,
  UNIQUE (kind, name)
) STRICT;

CREATE TABLE run_artifacts (
  run_seq      INTEGER PRIMARY KEY REFERENCES runs (seq),
  file_count   INTEGER NOT NULL,
  total_size   INTEGER NOT NULL,
  -- JSON: how many names were passed over, by reason.
  skipped      TEXT    NOT NULL,
  archive_key  TEXT,
  archive_size INTEGER,
  error        TEXT,
  created_at   INTEGER NOT NULL
, archived_at INTEGER) STRICT;

CREATE INDEX run_artifacts_by_archive ON run_artifacts (archive_key) WHERE archive_key IS NOT NULL;

CREATE TABLE run_artifact_files (
  run_seq INTEGER NOT NULL REFERENCES runs (seq),
  path    TEXT    NOT NULL,
  state   TEXT    NOT NULL CHECK (state IN ('added', 'modified')),
  size    INTEGER NOT NULL,
  sha256  TEXT    NOT NULL,
  PRIMARY KEY (run_seq, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_artifact_files_by_content ON run_artifact_files (sha256);

CREATE TABLE workspace_exports (
  session_seq  INTEGER PRIMARY KEY REFERENCES sessions (seq),
  run_seq      INTEGER NOT NULL REFERENCES runs (seq),
  status       TEXT    NOT NULL CHECK (status IN ('pending', 'ready', 'failed')),
  -- 1 when the workspace has changed since, but by no run: it is packed after the next one.
  stale        INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
  file_count   INTEGER NOT NULL,
  total_size   INTEGER NOT NULL,
  archive_key  TEXT,
  archive_size INTEGER,
  error        TEXT,
  updated_at   INTEGER NOT NULL
, archived_at INTEGER) STRICT;

CREATE INDEX workspace_exports_by_archive ON workspace_exports (archive_key) WHERE archive_key IS NOT NULL;

CREATE INDEX workspace_exports_pending ON workspace_exports (session_seq) WHERE status = 'pending';

CREATE TABLE workspace_files (
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  path        TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  sha256      TEXT    NOT NULL,
  PRIMARY KEY (session_seq, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX workspace_files_by_content ON workspace_files (sha256);

CREATE TABLE screenshots (
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  tool_use_id TEXT    NOT NULL,
  sha256      TEXT    NOT NULL,
  mime_type   TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  created_at  INTEGER NOT NULL, session_seq INTEGER REFERENCES sessions (seq),
  PRIMARY KEY (run_seq, tool_use_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX screenshots_by_content ON screenshots (sha256);

CREATE TABLE document_texts (
  sha256     TEXT    PRIMARY KEY,
  text       TEXT,
  -- Why there is no text.
  fault      TEXT,
  created_at INTEGER NOT NULL,
  CHECK ((text IS NULL) <> (fault IS NULL))
) STRICT;

CREATE TABLE user_inputs (
  seq         INTEGER PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  user_seq    INTEGER NOT NULL REFERENCES users (seq),
  tool_use_id TEXT    NOT NULL,
  tool_name   TEXT    NOT NULL,
  tool_input  TEXT    NOT NULL,
  status      TEXT    NOT NULL CHECK (status IN ('pending', 'answered', 'expired')),
  answers     TEXT,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  answered_at INTEGER,
  UNIQUE (run_seq, tool_use_id),
  CHECK ((answers IS NOT NULL) = (status = 'answered')),
  CHECK ((answered_at IS NOT NULL) = (status = 'answered'))
) STRICT;

CREATE INDEX user_inputs_pending ON user_inputs (expires_at) WHERE status = 'pending';

CREATE INDEX user_inputs_by_session ON user_inputs (session_seq, seq);

CREATE INDEX user_inputs_by_user ON user_inputs (user_seq, seq);

CREATE TABLE insights (
  seq            INTEGER PRIMARY KEY,
  id             TEXT    NOT NULL UNIQUE,
  session_seq    INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq        INTEGER NOT NULL REFERENCES runs (seq),
  user_seq       INTEGER NOT NULL REFERENCES users (seq),
  tool_use_id    TEXT    NOT NULL,
  title          TEXT    NOT NULL,
  summary        TEXT    NOT NULL,
  priority       TEXT    NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
  status         TEXT    NOT NULL CHECK (status IN ('new', 'acknowledged', 'resolved', 'dismissed')),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  UNIQUE (run_seq, tool_use_id)
) STRICT;

CREATE INDEX insights_by_user ON insights (user_seq, seq);

CREATE TABLE connections (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  user_seq   INTEGER NOT NULL REFERENCES users (seq),
  connector  TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  secret     BLOB,
  state      TEXT    NOT NULL CHECK (state IN ('active', 'failed', 'revoked')),
  last_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX connections_by_user ON connections (user_seq, seq);

CREATE TABLE compactions (
  seq         INTEGER PRIMARY KEY,
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  step        INTEGER NOT NULL,
  summary     TEXT    NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX compactions_by_session ON compactions (session_seq, seq);

CREATE INDEX insights_by_session ON insights (session_seq, seq);

CREATE TABLE discarded_texts (
  run_seq         INTEGER NOT NULL REFERENCES runs (seq),
  -- After this event of the run's stream, up to the other.
  from_stream_seq INTEGER NOT NULL,
  to_stream_seq   INTEGER NOT NULL,
  PRIMARY KEY (run_seq, to_stream_seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX users_by_account ON users (account) WHERE exact_only = 0;

CREATE INDEX users_exact_only ON users (account) WHERE exact_only = 1;

CREATE INDEX sessions_recent ON sessions (updated_at) WHERE deleted_at IS NULL;

CREATE INDEX sessions_deleted ON sessions (deleted_at) WHERE deleted_at IS NOT NULL;

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
, purpose        TEXT CHECK (purpose = 'reply' OR purpose = 'agent' OR purpose = 'summary'), step           INTEGER, agent          TEXT, tries          INTEGER, commit_wait_ms INTEGER, permit_wait_ms INTEGER, retry_wait_ms  INTEGER, first_token_ms INTEGER, duration_ms    INTEGER, budget_wait_ms INTEGER, estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1)), outcome TEXT NOT NULL DEFAULT 'ok' CHECK (outcome = 'ok' OR outcome = 'failed' OR outcome = 'stopped' OR outcome = 'lost')) STRICT;

CREATE INDEX usage_by_session ON usage_records (session_seq, at);

CREATE TABLE usage_quarters (
  quarter  INTEGER NOT NULL,
  team_id  TEXT    NOT NULL,
  user_seq INTEGER NOT NULL,
  tokens   INTEGER NOT NULL,
  cost_usd REAL    NOT NULL,
  PRIMARY KEY (quarter, team_id, user_seq)
) STRICT, WITHOUT ROWID;

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
, worked_ms INTEGER NOT NULL DEFAULT 0, workspace_bytes INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- NULL for the operator behind the control socket.
  user_id TEXT,
  username TEXT NOT NULL,
  via TEXT NOT NULL CHECK (via IN ('key', 'token', 'socket')),
  key_id TEXT,
  action TEXT NOT NULL,
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  session_id TEXT,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;

CREATE INDEX audit_entries_at ON audit_entries (at);

CREATE INDEX audit_entries_user ON audit_entries (user_id);

CREATE INDEX audit_entries_action ON audit_entries (action);

CREATE INDEX audit_entries_target ON audit_entries (target_id);

CREATE INDEX audit_entries_session ON audit_entries (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_id INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  last_hash TEXT NOT NULL,
  -- The last entry that had been written when the log was not as the daemon had left it.
  doubtful_until INTEGER,
  -- HMAC over the above, under a key derived from the master key.
  seal TEXT NOT NULL
) STRICT;

CREATE INDEX screenshots_by_session ON screenshots (session_seq, tool_use_id, run_seq);

CREATE TABLE "runs" (
  seq                INTEGER PRIMARY KEY,
  id                 TEXT    NOT NULL UNIQUE,
  session_seq        INTEGER NOT NULL REFERENCES sessions (seq),
  user_seq           INTEGER NOT NULL REFERENCES users (seq),
  key_seq            INTEGER REFERENCES api_keys (seq),
  -- The team of the run's owner when the run was accepted; NULL without one, and for runs of before.
  team_id            TEXT,
  protocol           TEXT    NOT NULL CHECK (protocol IN ('chat', 'messages')),
  -- 'waiting': for its user, without a worker and without a slot; reported as 'running' (I2).
  status             TEXT    NOT NULL CHECK (status = 'queued' OR status = 'running' OR status = 'waiting' OR status = 'finalizing' OR status = 'completed' OR status = 'failed' OR status = 'canceled' OR status = 'incomplete'),
  schedule_mode      TEXT    NOT NULL CHECK (schedule_mode = 'immediate' OR schedule_mode = 'queued' OR schedule_mode = 'background' OR schedule_mode = 'scheduled'),
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
  outcome            TEXT    CHECK (outcome = 'completed' OR outcome = 'failed' OR outcome = 'incomplete'),
  answer             TEXT,
  -- Schema of the result the run must submit; NULL when its answer is text.
  output_schema      TEXT,
  -- The submitted result as JSON text: 'null' is a result, NULL is none.
  structured_output  TEXT,
  background_payload TEXT,
  -- Runs of before there were artifacts have none of their own (§3.2).
  artifact_status    TEXT    NOT NULL DEFAULT 'unavailable'
                       CHECK (artifact_status = 'pending' OR artifact_status = 'ready' OR artifact_status = 'failed' OR artifact_status = 'unavailable'),
  -- On the clock that does not jump: a wait for a worker is measured from here.
  worked_ms          INTEGER NOT NULL DEFAULT 0,
  created_at         INTEGER NOT NULL,
  started_at         INTEGER,
  finished_at        INTEGER, lane INTEGER GENERATED ALWAYS AS (coalesce(key_seq, -user_seq)) VIRTUAL, events_removed_at INTEGER, details_removed_at INTEGER, result_in_content INTEGER NOT NULL DEFAULT 0 CHECK (result_in_content IN (0, 1)),
  CHECK (outcome IS NOT 'completed' OR (output_schema IS NULL) = (structured_output IS NULL)),
  CHECK ((finished_at IS NOT NULL) = (status = 'completed' OR status = 'failed' OR status = 'canceled' OR status = 'incomplete'))
) STRICT;

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

CREATE TABLE webhooks (
  -- Also the id on the wire, so none is given twice.
  id                    INTEGER PRIMARY KEY AUTOINCREMENT,
  -- NULL: the house's, which is told of all users' events.
  user_seq              INTEGER REFERENCES users (seq),
  name                  TEXT    NOT NULL,
  url                   TEXT    NOT NULL,
  -- JSON array of event types.
  events                TEXT    NOT NULL,
  -- NULL: global scope.
  project_id            TEXT,
  -- JSON array; NULL: every kind.
  session_kinds         TEXT,
  -- Sealed outside of the store. After a rotation the previous one signs as well, until its time is over.
  secret                BLOB,
  previous_secret       BLOB,
  previous_secret_until INTEGER,
  timeout_ms            INTEGER NOT NULL,
  retry_count           INTEGER NOT NULL,
  retry_backoff_ms      INTEGER NOT NULL,
  enabled               INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- Why the daemon disabled it.
  disabled_reason       TEXT,
  -- Since the last success: the first failure, and how many there were.
  failing_since         INTEGER,
  failures              INTEGER NOT NULL DEFAULT 0,
  last_success_at       INTEGER,
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  -- A deleted one is gone for its owner; its row stays until the deliveries are removed.
  deleted_at            INTEGER, epoch INTEGER NOT NULL DEFAULT 1,
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL)),
  CHECK (previous_secret IS NULL OR secret IS NOT NULL),
  CHECK (disabled_reason IS NULL OR enabled = 0),
  CHECK (deleted_at IS NULL OR enabled = 0)
) STRICT;

CREATE INDEX webhooks_by_owner ON webhooks (user_seq, id) WHERE deleted_at IS NULL;

CREATE INDEX webhooks_troubled ON webhooks (id)
  WHERE (disabled_reason IS NOT NULL OR (failing_since IS NOT NULL AND enabled = 1));

CREATE INDEX webhooks_deleted ON webhooks (id) WHERE deleted_at IS NOT NULL;

CREATE TABLE webhook_subscriptions (
  event_type TEXT    NOT NULL,
  user_seq   INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL REFERENCES webhooks (id),
  PRIMARY KEY (event_type, user_seq, webhook_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_subscriptions_of ON webhook_subscriptions (webhook_id);

CREATE TABLE webhook_planning (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  cursor  INTEGER NOT NULL
) STRICT;

CREATE TABLE webhook_deliveries (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id       INTEGER NOT NULL REFERENCES webhooks (id),
  -- The webhook's `user_seq`, 0 for the house's.
  owner            INTEGER NOT NULL,
  -- The same for all webhooks of one event.
  event_id         TEXT    NOT NULL,
  event_type       TEXT    NOT NULL,
  -- NULL for a test without a session.
  session_seq      INTEGER REFERENCES sessions (seq),
  is_test          INTEGER NOT NULL CHECK (is_test IN (0, 1)),
  state            TEXT    NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'canceled')),
  attempt_count    INTEGER NOT NULL DEFAULT 0,
  -- How many failures end it.
  attempts_left    INTEGER NOT NULL,
  -- Wall time.
  next_attempt_at  INTEGER,
  last_status_code INTEGER,
  last_error       TEXT,
  -- The bytes that each attempt sends; '' once they were erased with their session.
  body             TEXT    NOT NULL,
  created_at       INTEGER NOT NULL,
  delivered_at     INTEGER, ended_at INTEGER,
  UNIQUE (event_id, webhook_id),
  CHECK ((next_attempt_at IS NOT NULL) = (state = 'pending'))
) STRICT;

CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'pending';

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, created_at);

CREATE INDEX webhook_deliveries_by_webhook_state ON webhook_deliveries (webhook_id, state, created_at);

CREATE INDEX webhook_deliveries_by_owner ON webhook_deliveries (owner, created_at);

CREATE INDEX webhook_deliveries_by_owner_state ON webhook_deliveries (owner, state, created_at);

CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (created_at);

CREATE INDEX webhook_deliveries_by_session ON webhook_deliveries (session_seq) WHERE session_seq IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery_id      INTEGER NOT NULL REFERENCES webhook_deliveries (id),
  no               INTEGER NOT NULL,
  at               INTEGER NOT NULL,
  -- NULL: no reply came.
  status_code      INTEGER,
  duration_ms      INTEGER NOT NULL,
  -- NULL: the receiver answered 2xx.
  error            TEXT,
  response_excerpt TEXT,
  PRIMARY KEY (delivery_id, no)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE state = 'pending';

CREATE INDEX webhook_deliveries_by_owner_type ON webhook_deliveries (owner, event_type, created_at);

CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries (event_type, created_at);

CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (state, created_at);

CREATE TABLE publish_pages (
  -- Also the id on the wire, so none is given twice.
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  key                 TEXT    NOT NULL UNIQUE,
  user_seq            INTEGER NOT NULL REFERENCES users (seq),
  name                TEXT    NOT NULL,
  -- The name as it is searched: letters without their case.
  search_name         TEXT    NOT NULL,
  description         TEXT,
  category            TEXT,
  -- JSON array.
  tags                TEXT    NOT NULL,
  origin              TEXT    NOT NULL CHECK (origin IN ('existing_session', 'scheduled_task')),
  -- What the next version is made of: of a task, the session of its newest completed firing; NULL before the first.
  session_seq         INTEGER REFERENCES sessions (seq),
  -- No reference: the page outlives its task.
  task_id             TEXT,
  -- Of the next version.
  entry_path          TEXT    NOT NULL,
  is_on_board         INTEGER NOT NULL CHECK (is_on_board IN (0, 1)),
  is_distraction_free INTEGER NOT NULL CHECK (is_distraction_free IN (0, 1)),
  -- Of the open versions: how many, and when the newest was published. Kept with each change of one.
  open_versions       INTEGER NOT NULL DEFAULT 0,
  latest_published_at INTEGER,
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  -- A deleted page is gone for everyone; its rows are removed later.
  deleted_at          INTEGER,
  CHECK (session_seq IS NOT NULL OR origin = 'scheduled_task'),
  CHECK ((task_id IS NOT NULL) = (origin = 'scheduled_task')),
  CHECK ((latest_published_at IS NULL) = (open_versions = 0))
) STRICT;

CREATE INDEX publish_pages_by_owner ON publish_pages (user_seq, id) WHERE deleted_at IS NULL;

CREATE INDEX publish_pages_by_name ON publish_pages (name, id) WHERE deleted_at IS NULL;

CREATE INDEX publish_pages_by_task ON publish_pages (task_id) WHERE task_id IS NOT NULL AND deleted_at IS NULL;

CREATE INDEX publish_pages_board
  ON publish_pages (latest_published_at, id, user_seq, category, search_name, is_on_board, deleted_at)
  WHERE is_on_board = 1 AND latest_published_at IS NOT NULL AND deleted_at IS NULL;

CREATE INDEX publish_pages_deleted ON publish_pages (id) WHERE deleted_at IS NOT NULL;

CREATE TABLE publish_versions (
  seq          INTEGER PRIMARY KEY,
  user_seq     INTEGER NOT NULL REFERENCES users (seq),
  session_seq  INTEGER NOT NULL REFERENCES sessions (seq),
  -- NULL for a draft: its files are being copied, and nobody sees it.
  page_id      INTEGER REFERENCES publish_pages (id),
  no           INTEGER,
  share_code   TEXT    UNIQUE,
  published_at INTEGER,
  share_type   TEXT    NOT NULL CHECK (share_type IN ('page', 'media', 'file')),
  entry_path   TEXT    NOT NULL,
  trigger_type TEXT    NOT NULL CHECK (trigger_type IN ('manual', 'auto')),
  reason       TEXT,
  file_count   INTEGER NOT NULL,
  total_size   INTEGER NOT NULL,
  expires_at   INTEGER,
  withdrawn_at INTEGER,
  -- 1 until it was withdrawn, or its end was noticed.
  is_open      INTEGER NOT NULL CHECK (is_open IN (0, 1)),
  -- 0 once the manifest of a withdrawn version was removed.
  has_files    INTEGER NOT NULL DEFAULT 1 CHECK (has_files IN (0, 1)),
  UNIQUE (page_id, no),
  CHECK ((page_id IS NULL) = (no IS NULL) AND (no IS NULL) = (share_code IS NULL)
    AND (share_code IS NULL) = (published_at IS NULL)),
  CHECK (is_open = 0 OR (published_at IS NOT NULL AND withdrawn_at IS NULL))
) STRICT;

CREATE INDEX publish_versions_open ON publish_versions (page_id, no) WHERE is_open = 1;

CREATE INDEX publish_versions_by_time ON publish_versions (page_id, published_at, no) WHERE is_open = 1;

CREATE INDEX publish_versions_by_owner ON publish_versions (user_seq, seq) WHERE published_at IS NOT NULL;

CREATE INDEX publish_versions_expiring ON publish_versions (expires_at) WHERE is_open = 1 AND expires_at IS NOT NULL;

CREATE INDEX publish_versions_to_clear ON publish_versions (seq) WHERE withdrawn_at IS NOT NULL AND has_files = 1;

CREATE INDEX publish_versions_drafts ON publish_versions (seq) WHERE published_at IS NULL;

CREATE TABLE publish_files (
  version_seq INTEGER NOT NULL REFERENCES publish_versions (seq),
  path        TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  sha256      TEXT    NOT NULL,
  PRIMARY KEY (version_seq, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX publish_files_by_content ON publish_files (sha256);

CREATE TABLE publish_removals (
  sha256 TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE publish_jobs (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  page_id         INTEGER NOT NULL REFERENCES publish_pages (id),
  firing_seq      INTEGER NOT NULL,
  session_seq     INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq         INTEGER NOT NULL REFERENCES runs (seq),
  attempt_count   INTEGER NOT NULL DEFAULT 0,
  -- Wall time.
  next_attempt_at INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  UNIQUE (page_id, firing_seq)
) STRICT;

CREATE INDEX publish_jobs_due ON publish_jobs (next_attempt_at);

CREATE INDEX publish_jobs_by_session ON publish_jobs (session_seq);

CREATE INDEX runs_claimable ON runs (key_seq, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode NOT IN ('background', 'scheduled');

CREATE INDEX runs_claimable_background ON runs (lane, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode IN ('background', 'scheduled');

CREATE INDEX runs_waiting_background ON runs (seq) WHERE status = 'queued' AND schedule_mode IN ('background', 'scheduled');

CREATE INDEX runs_executing_background ON runs (lane)
  WHERE status IN ('running', 'finalizing') AND schedule_mode IN ('background', 'scheduled');

CREATE TABLE scheduled_tasks (
  seq             INTEGER PRIMARY KEY,
  id              TEXT    NOT NULL UNIQUE,
  user_seq        INTEGER NOT NULL REFERENCES users (seq),
  name            TEXT    NOT NULL,
  cron            TEXT    NOT NULL,
  timezone        TEXT    NOT NULL,
  target          TEXT    NOT NULL,
  project_id      TEXT,
  enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  overlap         TEXT    NOT NULL CHECK (overlap IN ('skip', 'queue')),
  -- NULL while it is disabled. It stays while the firing is put off.
  next_fire_at    INTEGER,
  -- When it is tried: at its time, or later when it was put off.
  look_at         INTEGER,
  -- When next_fire_at was computed: a clock that is put back behind it makes it out of date.
  counted_at      INTEGER NOT NULL,
  last_fired_at   INTEGER,
  last_skipped_at INTEGER,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  -- A deleted one is gone for its owner; runs and firings still refer to its row.
  deleted_at      INTEGER,
  CHECK ((next_fire_at IS NULL) = (look_at IS NULL)),
  CHECK (enabled = 1 OR next_fire_at IS NULL),
  CHECK (deleted_at IS NULL OR enabled = 0)
) STRICT;

CREATE INDEX scheduled_tasks_due ON scheduled_tasks (look_at, seq) WHERE look_at IS NOT NULL;

CREATE INDEX scheduled_tasks_counted ON scheduled_tasks (counted_at) WHERE look_at IS NOT NULL;

CREATE INDEX scheduled_tasks_by_owner ON scheduled_tasks (user_seq, seq) WHERE deleted_at IS NULL;

CREATE INDEX scheduled_tasks_kept ON scheduled_tasks (seq) WHERE deleted_at IS NULL;

CREATE INDEX scheduled_tasks_by_name ON scheduled_tasks (name, seq) WHERE deleted_at IS NULL;

CREATE INDEX scheduled_tasks_enabled ON scheduled_tasks (user_seq) WHERE enabled = 1;

CREATE TABLE task_plans (
  seq       INTEGER PRIMARY KEY,
  task_seq  INTEGER NOT NULL REFERENCES scheduled_tasks (seq),
  -- What precedes the first step; NULL for none.
  prompt    TEXT,
  -- JSON array of {id, prompt}.
  steps     TEXT    NOT NULL
) STRICT;

CREATE INDEX task_plans_by_task ON task_plans (task_seq, seq);

CREATE TABLE firings (
  id          INTEGER PRIMARY KEY,
  task_seq    INTEGER NOT NULL REFERENCES scheduled_tasks (seq),
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  -- NULL once it has ended.
  plan_seq    INTEGER REFERENCES task_plans (seq),
  trigger     TEXT    NOT NULL CHECK (trigger IN ('clock', 'manual')),
  due_at      INTEGER NOT NULL,
  status      TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed', 'stopped')),
  -- The last step that has a run, and that run.
  step_no     INTEGER NOT NULL,
  step_count  INTEGER NOT NULL,
  run_seq     INTEGER REFERENCES runs (seq),
  created_at  INTEGER NOT NULL,
  ended_at    INTEGER,
  CHECK ((ended_at IS NULL) = (status IN ('pending', 'running'))),
  CHECK ((ended_at IS NULL) = (plan_seq IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX firings_by_due ON firings (task_seq, due_at) WHERE trigger = 'clock';

CREATE INDEX firings_by_task ON firings (task_seq, id);

CREATE INDEX firings_unfinished ON firings (task_seq, id) WHERE ended_at IS NULL;

CREATE INDEX firings_by_plan ON firings (plan_seq) WHERE plan_seq IS NOT NULL;

CREATE TABLE scheduled_runs (
  run_seq   INTEGER PRIMARY KEY REFERENCES runs (seq),
  firing_id INTEGER NOT NULL REFERENCES firings (id),
  step_id   TEXT    NOT NULL
) STRICT;

CREATE INDEX events_of_sessions_by_age ON events (created_at) WHERE run_seq IS NULL;

CREATE TABLE retention_clock (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  seen_at    INTEGER NOT NULL,
  -- Nothing is removed by age before this moment; NULL without a jump.
  held_until INTEGER
) STRICT;

CREATE TABLE audit_start (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  removed_id   INTEGER NOT NULL,
  removed_hash TEXT    NOT NULL,
  removed_at   INTEGER NOT NULL,
  -- HMAC over the above, under the key of audit_head.
  seal         TEXT    NOT NULL
) STRICT;

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

CREATE TABLE budget_periods (
  budget_seq INTEGER NOT NULL REFERENCES budgets (seq) ON DELETE CASCADE,
  starts_at  INTEGER NOT NULL,
  spent      REAL    NOT NULL,
  -- 1 when administrators were warned.
  warned     INTEGER NOT NULL DEFAULT 0 CHECK (warned IN (0, 1)),
  PRIMARY KEY (budget_seq, starts_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_artifacts_by_age ON run_artifacts (archived_at) WHERE archive_key IS NOT NULL;

CREATE INDEX workspace_exports_by_age ON workspace_exports (archived_at) WHERE archive_key IS NOT NULL;

CREATE INDEX firings_ended ON firings (ended_at) WHERE ended_at IS NOT NULL;

CREATE INDEX scheduled_runs_by_firing ON scheduled_runs (firing_id);

CREATE INDEX scheduled_tasks_deleted ON scheduled_tasks (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX sessions_scheduled ON sessions (updated_at) WHERE kind = 'scheduled' AND deleted_at IS NULL;

CREATE INDEX publish_pages_by_session ON publish_pages (session_seq) WHERE deleted_at IS NULL;

CREATE INDEX publish_pages_by_versions ON publish_pages (open_versions) WHERE deleted_at IS NULL;

CREATE INDEX sessions_idle ON sessions (updated_at)
  WHERE deleted_at IS NULL AND (workspace_checked_at IS NULL OR workspace_checked_at < updated_at);

CREATE TABLE disk_samples (
  at          INTEGER PRIMARY KEY,
  free_bytes  INTEGER NOT NULL,
  -- NULL on file systems without a fixed number of inodes.
  free_inodes INTEGER
) STRICT;

CREATE TABLE run_setups (
  seq    INTEGER PRIMARY KEY,
  sha256 TEXT    NOT NULL UNIQUE,
  text   TEXT    NOT NULL
) STRICT;

CREATE INDEX steps_by_setup ON steps (setup) WHERE setup IS NOT NULL;

CREATE TABLE calls_in_progress (
  run_seq      INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
  model        TEXT    NOT NULL,
  -- Of the prompt, estimated.
  input_tokens INTEGER NOT NULL,
  cost_usd     REAL    NOT NULL
) STRICT;

CREATE INDEX runs_unfinished ON runs (session_seq, seq) WHERE finished_at IS NULL;

CREATE INDEX runs_unfinished_background ON runs (user_seq, key_seq)
  WHERE finished_at IS NULL AND schedule_mode IN ('background', 'scheduled');

CREATE UNIQUE INDEX events_terminal ON events (run_seq) WHERE type = 'run.done' OR type = 'run.failed' OR type = 'run.stopped';

CREATE INDEX events_for_webhooks ON events (type) WHERE type = 'run.done' OR type = 'run.failed' OR type = 'run.stopped' OR type = 'scheduled_task.run_status_changed' OR type = 'user_input.requested' OR type = 'user_input.answered' OR type = 'insight.status_changed' OR type = 'publish_page.published' OR type = 'publish_page.failed' OR type = 'workspace_export.completed';

CREATE INDEX events_by_session ON events (session_seq) WHERE type <> 'content_block_delta';

CREATE INDEX events_of_starts ON events (session_seq) WHERE type = 'run.started';

CREATE INDEX events_beside_runs ON events (session_seq, payload ->> '$.runId') WHERE run_seq IS NULL;

CREATE TABLE retention_places (
  kind TEXT    PRIMARY KEY,
  -- The end of the last run that is done, and its key.
  at   INTEGER NOT NULL,
  key  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_ended ON runs (finished_at, seq, status, session_seq) WHERE finished_at IS NOT NULL;

CREATE UNIQUE INDEX events_by_run ON events (run_seq, stream_seq)
  WHERE run_seq IS NOT NULL AND type <> 'content_block_delta';

CREATE INDEX events_of_text ON events (id >> 9, run_seq) WHERE type = 'content_block_delta';

CREATE TRIGGER session_opened AFTER INSERT ON sessions WHEN NEW.key_seq IS NOT NULL AND NEW.kind = 'api' AND NEW.deleted_at IS NULL BEGIN
  UPDATE api_keys SET listed_sessions = listed_sessions + 1 WHERE seq = NEW.key_seq;
END;

CREATE TRIGGER session_deleted AFTER UPDATE OF deleted_at ON sessions
  WHEN OLD.key_seq IS NOT NULL AND OLD.kind = 'api' AND OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE api_keys SET listed_sessions = listed_sessions - 1 WHERE seq = OLD.key_seq;
END;

INSERT INTO webhook_planning (id, cursor) VALUES (1, 0);
PRAGMA user_version = 35;
