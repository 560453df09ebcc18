// The space of workspaces, of each session and of each user.
export const spaceOfUsers = `
-- Bytes of the files in workspace_files; 0 once the session is deleted.
ALTER TABLE session_totals ADD COLUMN workspace_bytes INTEGER NOT NULL DEFAULT 0;
-- Of all sessions of the user.
ALTER TABLE users ADD COLUMN workspace_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE session_totals SET workspace_bytes = f.bytes
  FROM (SELECT session_seq, sum(size) AS bytes FROM workspace_files GROUP BY session_seq) AS f
  JOIN sessions s ON s.seq = f.session_seq AND s.deleted_at IS NULL
  WHERE f.session_seq = session_totals.session_seq;
UPDATE users SET workspace_bytes = f.bytes
  FROM (SELECT s.user_seq, sum(t.workspace_bytes) AS bytes FROM session_totals t JOIN sessions s ON s.seq = t.session_seq
    WHERE t.workspace_bytes > 0 GROUP BY s.user_seq) AS f
  WHERE f.user_seq = users.seq;
`;
