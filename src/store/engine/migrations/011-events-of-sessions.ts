// Streams and pages of everything that happens in a session.

export const eventsOfSessions = `
-- In the order of the journal, as each row of an index has the table's key behind it.
CREATE INDEX events_by_session ON events (session_seq);
-- Events of a session that name a run in their payload.
CREATE INDEX events_naming_run ON events (payload ->> '$.runId') WHERE run_seq IS NULL;
`;
