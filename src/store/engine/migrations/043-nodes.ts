// Nodes by the id of their data directory, with what they say of themselves. Those of before were named by their hosts, and register anew.

export const nodes = `
DROP TABLE worker_nodes;
CREATE TABLE worker_nodes (
  id            TEXT    PRIMARY KEY,
  -- The process that beats; NULL once it has left.
  process       TEXT,
  -- Where its data directory is: a copy of it is at another place.
  place         TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  version       TEXT    NOT NULL,
  address       TEXT    NOT NULL,
  -- Runs that it can execute at once; 0: none.
  slots         INTEGER NOT NULL,
  -- A JSON array.
  labels        TEXT    NOT NULL,
  running       INTEGER NOT NULL,
  -- What operators have said, and what the node knew of it when it counted its runs.
  draining      INTEGER NOT NULL CHECK (draining IN (0, 1)),
  noticed       INTEGER NOT NULL CHECK (noticed IN (0, 1)),
  -- Grows while the node is alive; and while another process tries to beat with its id.
  beats         INTEGER NOT NULL,
  contests      INTEGER NOT NULL,
  -- By the database's clock.
  last_beat_at  INTEGER NOT NULL,
  registered_at INTEGER NOT NULL
) STRICT;
`;
