// The number of a key's API sessions is kept with the key: counted in the index, it took 4 ms of each page with 100,000 of them.

const LISTED = "kind = 'api' AND deleted_at IS NULL";
const isListed = (row: 'OLD' | 'NEW') =>
  `${row}.key_seq IS NOT NULL AND ${row}.kind = 'api' AND ${row}.deleted_at IS NULL`;

/** Triggers keep it, so that no statement that opens or deletes a session can forget it. */
export const countedSessions = `
ALTER TABLE api_keys ADD COLUMN listed_sessions INTEGER NOT NULL DEFAULT 0;
UPDATE api_keys SET listed_sessions = (SELECT count(*) FROM sessions WHERE key_seq = api_keys.seq AND ${LISTED});
CREATE TRIGGER session_opened AFTER INSERT ON sessions WHEN ${isListed('NEW')} BEGIN
  UPDATE api_keys SET listed_sessions = listed_sessions + 1 WHERE seq = NEW.key_seq;
END;
CREATE TRIGGER session_deleted AFTER UPDATE OF deleted_at ON sessions
  WHEN ${isListed('OLD')} AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE api_keys SET listed_sessions = listed_sessions - 1 WHERE seq = OLD.key_seq;
END;
`;
