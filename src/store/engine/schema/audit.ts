// The audit log and its ends.

export const audit = `
CREATE TABLE audit_entries (
  id          INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  -- NULL for the operator behind the control socket.
  user_id     TEXT,
  username    TEXT    NOT NULL,
  via         TEXT    NOT NULL CHECK (via IN ('key', 'token', 'socket')),
  key_id      TEXT,
  action      TEXT    NOT NULL,
  target_type TEXT    NOT NULL,
  target_id   TEXT    NOT NULL,
  session_id  TEXT,
  address     TEXT    NOT NULL,
  request_id  TEXT    NOT NULL,
  hash        TEXT    NOT NULL
) STRICT;
CREATE INDEX audit_entries_at ON audit_entries (at);
CREATE INDEX audit_entries_user ON audit_entries (user_id);
CREATE INDEX audit_entries_action ON audit_entries (action);
CREATE INDEX audit_entries_target ON audit_entries (target_id);
CREATE INDEX audit_entries_session ON audit_entries (session_id) WHERE session_id IS NOT NULL;

-- One row, once there is an entry.
CREATE TABLE audit_head (
  id             INTEGER PRIMARY KEY CHECK (id = 1),
  last_id        INTEGER NOT NULL,
  last_at        INTEGER NOT NULL,
  last_hash      TEXT    NOT NULL,
  -- The last entry that had been written when the log was not as the daemon had left it.
  doubtful_until INTEGER,
  -- HMAC over the above, under a key derived from the master key.
  seal           TEXT    NOT NULL
) STRICT;

-- One row, once entries were removed: the last of them, which the chain continues from.
CREATE TABLE audit_start (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  removed_id   INTEGER NOT NULL,
  removed_hash TEXT    NOT NULL,
  removed_at   INTEGER NOT NULL,
  -- HMAC over the above, under the key of audit_head.
  seal         TEXT    NOT NULL
) STRICT;

-- One row until the first anchor is on the disk.
CREATE TABLE audit_anchor_due (
  id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;
INSERT INTO audit_anchor_due (id) VALUES (1);

-- Nodes whose own anchor is on their disk.
CREATE TABLE audit_anchors (
  node_id TEXT PRIMARY KEY
) STRICT;
`;
