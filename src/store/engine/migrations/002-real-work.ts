// The second schema: what an agent may use, what it asks and reports, and the files it produces.

export const realWork = `
-- Integer ids of what the config directory defines by name (§2.10, J4): given at first sight, kept for good.
CREATE TABLE definition_ids (
  id   INTEGER PRIMARY KEY,
  kind TEXT    NOT NULL CHECK (kind IN ('mcp_server', 'skill', 'plugin', 'expert')),
  name TEXT    NOT NULL,
  UNIQUE (kind, name)
) STRICT;

-- Who answers in a session, and what its agents may use: fixed when it is opened.
ALTER TABLE sessions ADD COLUMN target TEXT NOT NULL DEFAULT 'free';
ALTER TABLE sessions ADD COLUMN capability_config TEXT NOT NULL DEFAULT '{}';
-- JSON of the expert team as it was then; NULL without a team.
ALTER TABLE sessions ADD COLUMN orchestration TEXT;

-- Runs of before have no artifacts of their own (§3.2).
ALTER TABLE runs ADD COLUMN artifact_status TEXT NOT NULL DEFAULT 'unavailable'
  CHECK (artifact_status IN ('pending', 'ready', 'failed', 'unavailable'));
-- 1 while the run waits for its user: 'running', but without a worker and without a slot (I2).
ALTER TABLE runs ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0 CHECK (waiting IN (0, 1));
-- Time spent waiting for the user, which does not count against the run's time limit.
ALTER TABLE runs ADD COLUMN waited_ms INTEGER NOT NULL DEFAULT 0;
DROP INDEX runs_executing;
CREATE INDEX runs_executing ON runs (key_seq) WHERE status IN ('running', 'finalizing') AND waiting = 0;
CREATE INDEX runs_to_collect ON runs (session_seq, seq) WHERE artifact_status = 'pending' AND finished_at IS NOT NULL;

-- Files that a run added or changed (§2.9). The row is written when they are all kept as blobs; then the archive is packed.
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
) STRICT;
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

-- The workspace as it was after the last run that changed it (§2.8), and its zip.
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
) STRICT;
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

-- What the browser showed, one picture a tool use.
CREATE TABLE screenshots (
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  tool_use_id TEXT    NOT NULL,
  sha256      TEXT    NOT NULL,
  mime_type   TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (run_seq, tool_use_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX screenshots_by_content ON screenshots (sha256);

-- The text of attached documents, read once for each content.
CREATE TABLE document_texts (
  sha256     TEXT    PRIMARY KEY,
  text       TEXT,
  -- Why there is no text.
  fault      TEXT,
  created_at INTEGER NOT NULL,
  CHECK ((text IS NULL) <> (fault IS NULL))
) STRICT;

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

-- A user's connection to a service that a connector describes (I4). The secret is encrypted under the master key (J6).
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
`;
