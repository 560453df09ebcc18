// The journal: one row an event.

export const journal = `
CREATE TABLE events (
  id          INTEGER PRIMARY KEY,
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  run_seq     INTEGER REFERENCES runs (seq),
  stream_seq  INTEGER,
  type        TEXT    NOT NULL,
  payload     TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  CHECK ((run_seq IS NULL) = (stream_seq IS NULL))
) STRICT;
CREATE INDEX events_of_sessions_by_age ON events (created_at) WHERE run_seq IS NULL;
-- One terminal event per run, whatever goes wrong elsewhere.
CREATE UNIQUE INDEX events_terminal ON events (run_seq) WHERE type = 'run.done' OR type = 'run.failed' OR type = 'run.stopped';
-- The events that a webhook may want, by type in the order of the journal.
CREATE INDEX events_for_webhooks ON events (type)
  WHERE type = 'run.done' OR type = 'run.failed' OR type = 'run.stopped' OR type = 'scheduled_task.run_status_changed'
    OR type = 'user_input.requested' OR type = 'user_input.answered' OR type = 'insight.status_changed'
    OR type = 'publish_page.published' OR type = 'publish_page.failed' OR type = 'workspace_export.completed';
-- In the order of the journal, as each row of an index has the table's key behind it.
CREATE INDEX events_by_session ON events (session_seq) WHERE type <> 'content_block_delta';
-- Says whose text was streamed at any place in a session's journal.
CREATE INDEX events_of_starts ON events (session_seq) WHERE type = 'run.started';
-- Events of a session that name a run in their payload.
CREATE INDEX events_beside_runs ON events (session_seq, payload ->> '$.runId') WHERE run_seq IS NULL;
CREATE UNIQUE INDEX events_by_run ON events (run_seq, stream_seq)
  WHERE run_seq IS NOT NULL AND type <> 'content_block_delta';
CREATE INDEX events_of_text ON events (id >> 9, run_seq) WHERE type = 'content_block_delta';
`;
