// What removing by age knows, and samples of the disk.

export const retention = `
-- The wall time that was last seen, so that a clock that jumps ahead removes nothing at once.
CREATE TABLE retention_clock (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  seen_at    INTEGER NOT NULL,
  -- Nothing is removed by age before this moment; NULL without a jump.
  held_until INTEGER
) STRICT;

CREATE TABLE retention_places (
  kind TEXT    PRIMARY KEY,
  -- The end of the last run that is done, and its key.
  at   INTEGER NOT NULL,
  key  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE disk_samples (
  at          INTEGER PRIMARY KEY,
  free_bytes  INTEGER NOT NULL,
  -- NULL on file systems without a fixed number of inodes.
  free_inodes INTEGER,
  -- Whose disk; NULL: of the home node.
  node_id     TEXT
) STRICT;
`;
