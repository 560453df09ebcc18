// Sessions that begin with the conversation of another one (M2), and what files were before a run replaced them.

export const forks = `
ALTER TABLE sessions ADD COLUMN origin_session TEXT;
ALTER TABLE sessions ADD COLUMN origin_run TEXT;
ALTER TABLE workspaces ADD COLUMN kept_from INTEGER;
ALTER TABLE workspace_files ADD COLUMN since_run INTEGER;
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
CREATE TABLE workspace_copies (
  session_seq  INTEGER PRIMARY KEY REFERENCES sessions (seq),
  from_session INTEGER NOT NULL REFERENCES sessions (seq),
  at_run       INTEGER NOT NULL REFERENCES runs (seq),
  -- How far it is: after a path of workspace_files, then after a run and path of earlier_files.
  after_run    INTEGER,
  after_path   TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX workspace_copies_from ON workspace_copies (from_session);
`;
