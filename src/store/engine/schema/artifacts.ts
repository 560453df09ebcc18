// Files of runs and of workspaces, their archives, and the bytes of small ones.

export const artifacts = `
-- Files that a run added or changed (§2.9). The row is written when they are all recorded, and kept as blobs.
CREATE TABLE run_artifacts (
  run_seq      INTEGER PRIMARY KEY REFERENCES runs (seq),
  file_count   INTEGER NOT NULL,
  total_size   INTEGER NOT NULL,
  -- JSON: how many names were passed over, by reason.
  skipped      TEXT    NOT NULL,
  archive_key  TEXT,
  archive_size INTEGER,
  error        TEXT,
  created_at   INTEGER NOT NULL,
  -- When the archive was packed; it can be removed and packed again.
  archived_at  INTEGER
) STRICT;
CREATE INDEX run_artifacts_by_archive ON run_artifacts (archive_key) WHERE archive_key IS NOT NULL;
CREATE INDEX run_artifacts_by_age ON run_artifacts (archived_at) WHERE archive_key IS NOT NULL;

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
  updated_at   INTEGER NOT NULL,
  archived_at  INTEGER
) STRICT;
CREATE INDEX workspace_exports_by_archive ON workspace_exports (archive_key) WHERE archive_key IS NOT NULL;
CREATE INDEX workspace_exports_pending ON workspace_exports (session_seq) WHERE status = 'pending';
CREATE INDEX workspace_exports_by_age ON workspace_exports (archived_at) WHERE archive_key IS NOT NULL;

CREATE TABLE workspace_files (
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  path        TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  sha256      TEXT    NOT NULL,
  -- The run with which it was recorded. NULL: before kept_from of the workspace.
  since_run   INTEGER,
  PRIMARY KEY (session_seq, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX workspace_files_by_content ON workspace_files (sha256);

-- What workspace_files had before a run: with both, the files of a workspace after any of its runs are known.
CREATE TABLE earlier_files (
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  -- The run that replaced or removed it.
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  path        TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  sha256      TEXT    NOT NULL,
  -- As in workspace_files.
  since_run   INTEGER,
  PRIMARY KEY (run_seq, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX earlier_files_by_session ON earlier_files (session_seq, run_seq);
CREATE INDEX earlier_files_by_content ON earlier_files (sha256);

-- Forks whose files are still to be listed: those that another session had after a run.
CREATE TABLE workspace_copies (
  session_seq  INTEGER PRIMARY KEY REFERENCES sessions (seq),
  from_session INTEGER NOT NULL REFERENCES sessions (seq),
  at_run       INTEGER NOT NULL REFERENCES runs (seq),
  -- How far it is: after a path of workspace_files, then after a run and path of earlier_files.
  after_run    INTEGER,
  after_path   TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX workspace_copies_from ON workspace_copies (from_session);

-- What is known of workspace_files, and how far files are recorded that are too many for one commit.
CREATE TABLE workspaces (
  session_seq INTEGER PRIMARY KEY REFERENCES sessions (seq),
  -- Names the look whose files workspace_files has; NULL while no look's are known to be there.
  token       TEXT,
  -- Rows of workspace_files.
  file_count  INTEGER NOT NULL,
  -- 'baseline': workspace_files is written before a run. 'own': the run's own files are written; a crash leaves a part, which is
  -- removed. 'tree': all its own files are there, and workspace_files is written; it is continued after a crash.
  step        TEXT CHECK (step IN ('baseline', 'own', 'tree')),
  run_seq     INTEGER REFERENCES runs (seq),
  -- The run's own files, and their bytes.
  own_count   INTEGER NOT NULL DEFAULT 0,
  own_bytes   INTEGER NOT NULL DEFAULT 0,
  -- Which moment the files are of: after a step of a run, 0 before its first change, NULL after its end. NULL both: it isn't known.
  as_of_run   INTEGER REFERENCES runs (seq),
  as_of_step  INTEGER,
  -- What else the workspace has then, as JSON: files that may be executed, links, empty folders. NULL: nothing.
  extras      TEXT,
  -- From the end of which run on its files are known; 0: always, NULL: they aren't.
  kept_from   INTEGER,
  CHECK ((step IS NULL) = (run_seq IS NULL))
) STRICT;

-- What files were before a run, of those that were recorded anew in its midst: its own changes are what differs from them at its end.
CREATE TABLE baseline_files (
  run_seq INTEGER NOT NULL REFERENCES runs (seq),
  path    TEXT    NOT NULL,
  -- NULL: there was no such file.
  sha256  TEXT,
  PRIMARY KEY (run_seq, path)
) STRICT, WITHOUT ROWID;

-- What agents are told of a workspace that was laid out anew: which moment it is of, and what may be gone.
CREATE TABLE workspace_notes (
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  attempt     INTEGER NOT NULL,
  -- The step of the run that it comes after; 0: it comes before the first.
  step        INTEGER NOT NULL,
  text        TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (session_seq, run_seq, attempt)
) STRICT, WITHOUT ROWID;

-- Small blobs: stored in the commit that first lists one, with the SHA-256 of its bytes in lower-case hex. Others are files, and so
-- are those of before.
CREATE TABLE small_blobs (
  key   TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
`;
