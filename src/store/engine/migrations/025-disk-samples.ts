// What was free on the disk, hour by hour.

export const diskSamples = `
CREATE TABLE disk_samples (
  at          INTEGER PRIMARY KEY,
  free_bytes  INTEGER NOT NULL,
  -- NULL on file systems without a fixed number of inodes.
  free_inodes INTEGER
) STRICT;
`;
