// Published pages, their versions and files.

export const publishing = `
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
-- All that the board is filtered by, so that it is read in the index alone.
CREATE INDEX publish_pages_board
  ON publish_pages (latest_published_at, id, user_seq, category, search_name, is_on_board, deleted_at)
  WHERE is_on_board = 1 AND latest_published_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX publish_pages_deleted ON publish_pages (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX publish_pages_by_session ON publish_pages (session_seq) WHERE deleted_at IS NULL;
CREATE INDEX publish_pages_by_versions ON publish_pages (open_versions) WHERE deleted_at IS NULL;

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

-- Manifests. Their blobs stay as long as they are here.
CREATE TABLE publish_files (
  version_seq INTEGER NOT NULL REFERENCES publish_versions (seq),
  path        TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  sha256      TEXT    NOT NULL,
  PRIMARY KEY (version_seq, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX publish_files_by_content ON publish_files (sha256);

-- Blobs that a manifest had: they are removed unless something else refers to them.
CREATE TABLE publish_removals (
  sha256 TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Automatic publishing that has neither succeeded nor failed yet (F14).
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
`;
