// Where runs execute and workspaces are, and which node does what is done once for all.

export const severalNodes = `
ALTER TABLE runs ADD COLUMN node_id TEXT;
ALTER TABLE sessions ADD COLUMN workspace_node TEXT;
ALTER TABLE worker_nodes ADD COLUMN leader INTEGER NOT NULL DEFAULT 0 CHECK (leader IN (0, 1));
CREATE UNIQUE INDEX worker_nodes_leader ON worker_nodes (leader) WHERE leader = 1;
CREATE TABLE installation (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  -- The node that was alone when workspaces had none: those of such sessions are there.
  home_node     TEXT    NOT NULL,
  -- Names the master key, without telling it; NULL while no node has said.
  master_key_id TEXT
) STRICT;
`;
