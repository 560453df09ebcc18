// Sessions: messages with their files, questions, insights, and what a session has come to.

export const sessions = `
CREATE TABLE sessions (
  seq                  INTEGER PRIMARY KEY,
  id                   TEXT    NOT NULL UNIQUE,
  user_seq             INTEGER NOT NULL REFERENCES users (seq),
  key_seq              INTEGER REFERENCES api_keys (seq),
  kind                 TEXT    NOT NULL CHECK (kind = 'chat' OR kind = 'api' OR kind = 'scheduled'),
  title                TEXT    NOT NULL,
  status               TEXT    NOT NULL CHECK (status = 'pending' OR status = 'running' OR status = 'completed'
    OR status = 'failed' OR status = 'stopped'),
  project_id           TEXT,
  -- The last stop (§3.3): when it was committed, when the executor was known to have ended, and who asked for it.
  stop_requested_at    INTEGER,
  stop_confirmed_at    INTEGER,
  stop_cause           TEXT    CHECK (stop_cause = 'user_requested_stop' OR stop_cause = 'operator_requested_stop'
    OR stop_cause = 'session_deleted'),
  created_at           INTEGER NOT NULL,
  updated_at           INTEGER NOT NULL,
  deleted_at           INTEGER,
  -- Who answers in a session, and what its agents may use: fixed when it is opened.
  target               TEXT    NOT NULL DEFAULT 'free',
  capability_config    TEXT    NOT NULL DEFAULT '{}',
  -- JSON of the expert team as it was then; NULL without a team.
  orchestration        TEXT,
  -- NULL without a team, or when its lead has no model of its own.
  lead_model           TEXT,
  -- When the files of the session's workspace were removed; NULL while they were not.
  workspace_removed_at INTEGER,
  -- When it was last looked at for that: only what has changed since is looked at again.
  workspace_checked_at INTEGER,
  -- The node whose directory is the session's workspace; NULL while none is.
  workspace_node       TEXT,
  -- What its client calls it; NULL without.
  client_name          TEXT,
  -- 1 when nobody comes back to it: it is deleted soon after its run.
  throw_away           INTEGER NOT NULL DEFAULT 0 CHECK (throw_away IN (0, 1)),
  -- Of a fork: the ids of the session that it begins with, and of the last run that it has of it.
  origin_session       TEXT,
  origin_run           TEXT,
  CHECK ((stop_cause IS NULL) = (stop_requested_at IS NULL)),
  CHECK (stop_confirmed_at IS NULL OR stop_requested_at IS NOT NULL)
) STRICT;
-- With deleted_at as a column, not as a condition: so lists are counted in the index alone.
CREATE INDEX sessions_by_key ON sessions (key_seq, kind, deleted_at, updated_at DESC, created_at DESC, seq DESC);
CREATE INDEX sessions_by_user ON sessions (user_seq, deleted_at, seq, key_seq);
CREATE INDEX sessions_stopping ON sessions (seq) WHERE stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL;
CREATE INDEX sessions_recent ON sessions (updated_at) WHERE deleted_at IS NULL;
CREATE INDEX sessions_deleted ON sessions (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX sessions_scheduled ON sessions (updated_at) WHERE kind = 'scheduled' AND deleted_at IS NULL;
CREATE INDEX sessions_idle ON sessions (updated_at)
  WHERE deleted_at IS NULL AND (workspace_checked_at IS NULL OR workspace_checked_at < updated_at);
CREATE INDEX sessions_by_client_name ON sessions (key_seq, client_name, seq) WHERE client_name IS NOT NULL;
CREATE INDEX sessions_throw_away ON sessions (updated_at) WHERE throw_away = 1 AND deleted_at IS NULL;
-- What the key's list of sessions counts: triggers keep it, so that no statement that opens or deletes a session can forget it.
CREATE TRIGGER session_opened AFTER INSERT ON sessions
  WHEN NEW.key_seq IS NOT NULL AND NEW.kind = 'api' AND NEW.deleted_at IS NULL BEGIN
  UPDATE api_keys SET listed_sessions = listed_sessions + 1 WHERE seq = NEW.key_seq;
END;
CREATE TRIGGER session_deleted AFTER UPDATE OF deleted_at ON sessions
  WHEN OLD.key_seq IS NOT NULL AND OLD.kind = 'api' AND OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE api_keys SET listed_sessions = listed_sessions - 1 WHERE seq = OLD.key_seq;
END;

-- Whose conversation a fork begins with: runs of its origin up to one of them, then what that one has begun with, and so on. While the row
-- is there, these runs keep their texts, though their session is deleted.
CREATE TABLE session_origins (
  session_seq   INTEGER NOT NULL REFERENCES sessions (seq),
  -- 0: the nearest.
  position      INTEGER NOT NULL,
  from_session  INTEGER NOT NULL REFERENCES sessions (seq),
  -- The last run that is taken over, and the newest message of all that are.
  until_run     INTEGER NOT NULL REFERENCES runs (seq),
  until_message INTEGER NOT NULL,
  PRIMARY KEY (session_seq, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_origins_held ON session_origins (from_session, until_run);

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

-- The text of attached documents, read once for each content.
CREATE TABLE document_texts (
  sha256     TEXT    PRIMARY KEY,
  text       TEXT,
  -- Why there is no text.
  fault      TEXT,
  created_at INTEGER NOT NULL,
  CHECK ((text IS NULL) <> (fault IS NULL))
) STRICT;

-- Summaries that stand for the older part of a long conversation: all turns before \`run_seq\`, and that run's steps up to \`step\`.
CREATE TABLE compactions (
  seq         INTEGER PRIMARY KEY,
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  step        INTEGER NOT NULL,
  summary     TEXT    NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX compactions_by_session ON compactions (session_seq, seq);

-- Questions of agents to their users (I2).
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

-- What agents want people to know (I3).
CREATE TABLE insights (
  seq         INTEGER PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  user_seq    INTEGER NOT NULL REFERENCES users (seq),
  tool_use_id TEXT    NOT NULL,
  title       TEXT    NOT NULL,
  summary     TEXT    NOT NULL,
  priority    TEXT    NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
  status      TEXT    NOT NULL CHECK (status IN ('new', 'acknowledged', 'resolved', 'dismissed')),
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  UNIQUE (run_seq, tool_use_id)
) STRICT;
CREATE INDEX insights_by_user ON insights (user_seq, seq);
CREATE INDEX insights_by_session ON insights (session_seq, seq);

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
  cost_usd           REAL    NOT NULL DEFAULT 0,
  -- Of the runs that have ended.
  worked_ms          INTEGER NOT NULL DEFAULT 0,
  -- Bytes of the files in workspace_files; 0 once the session is deleted.
  workspace_bytes    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Deleted sessions whose files are still to be removed (E9).
CREATE TABLE cleanups (
  session_seq INTEGER PRIMARY KEY REFERENCES sessions (seq),
  created_at  INTEGER NOT NULL
) STRICT;
`;
