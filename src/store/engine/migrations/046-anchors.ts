// Which nodes have anchored the audit log: each has a file of its own.

export const anchors = `
CREATE TABLE audit_anchors (
  node_id TEXT PRIMARY KEY
) STRICT;
`;
