// Small blobs are rows, which are there as soon as what lists them is. Those of before stay files.

export const smallBlobs = `
CREATE TABLE small_blobs (
  key   TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
`;
