// Which moment a workspace is recorded of, and what agents are told when it was laid out anew.

export const workspaceNotes = `
ALTER TABLE workspaces ADD COLUMN as_of_run INTEGER REFERENCES runs (seq);
ALTER TABLE workspaces ADD COLUMN as_of_step INTEGER;
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
`;
