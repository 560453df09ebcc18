// How sessions of a key are found by what clients say, and sessions that go with their runs (M1).

export const continuedSessions = `
ALTER TABLE api_keys ADD COLUMN continue_by TEXT;
ALTER TABLE sessions ADD COLUMN client_name TEXT;
ALTER TABLE sessions ADD COLUMN throw_away INTEGER NOT NULL DEFAULT 0 CHECK (throw_away IN (0, 1));
ALTER TABLE runs ADD COLUMN history_asked BLOB;
ALTER TABLE runs ADD COLUMN history_answered BLOB;
ALTER TABLE runs ADD COLUMN history_streamed BLOB;
CREATE INDEX sessions_by_client_name ON sessions (key_seq, client_name, seq) WHERE client_name IS NOT NULL;
CREATE INDEX sessions_throw_away ON sessions (updated_at) WHERE throw_away = 1 AND deleted_at IS NULL;
CREATE INDEX runs_by_answered ON runs (key_seq, history_answered, seq) WHERE history_answered IS NOT NULL;
CREATE INDEX runs_by_streamed ON runs (key_seq, history_streamed, seq) WHERE history_streamed IS NOT NULL;
`;
