// What is known of the recorded files of a session, and how far the files of a run are recorded that are too many for one commit.

export const workspaces = `
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
  CHECK ((step IS NULL) = (run_seq IS NULL))
) STRICT;
`;
