// Events of sessions that belong to no run: one index has those of a session, and among them those that name a run.

export const eventsBesideRuns = `
DROP INDEX events_of_session;
DROP INDEX events_naming_run;
CREATE INDEX events_beside_runs ON events (session_seq, payload ->> '$.runId') WHERE run_seq IS NULL;
`;
