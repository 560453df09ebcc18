// Whether the end of the audit log has never been anchored in a file: then a missing file is no loss.
export const auditAnchor = `
-- One row until the first anchor is on the disk.
CREATE TABLE audit_anchor_due (
  id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;
INSERT INTO audit_anchor_due (id) VALUES (1);
`;
