// What files were before a run whose workspace was recorded in its midst.

export const baselineFiles = `
CREATE TABLE baseline_files (
  run_seq INTEGER NOT NULL REFERENCES runs (seq),
  path    TEXT    NOT NULL,
  -- NULL: there was no such file.
  sha256  TEXT,
  PRIMARY KEY (run_seq, path)
) STRICT, WITHOUT ROWID;
`;
