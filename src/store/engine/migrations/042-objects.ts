// What is known of a bucket that has the bytes of files.

export const objects = `
CREATE TABLE blob_location (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  -- s3://BUCKET/PREFIX. No row: the directory of blobs of the data directory.
  name      TEXT    NOT NULL,
  -- 1: no object is removed. The rows were restored, and an installation beside this one may need it.
  is_shared INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE loose_objects (
  key            TEXT    PRIMARY KEY,
  noted_at       INTEGER NOT NULL,
  -- Since when it is being removed: nobody stores it meanwhile.
  removing_since INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX loose_objects_noted ON loose_objects (noted_at);
`;
