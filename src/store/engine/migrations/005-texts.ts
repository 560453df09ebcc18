// The fifth schema: texts that are no longer read are erased.

export const texts = `
CREATE INDEX events_of_session ON events (session_seq, type) WHERE run_seq IS NULL;

-- Streamed text that belongs to no reply, because its worker was lost or its model failed: its deltas are still to be emptied.
CREATE TABLE discarded_texts (
  run_seq         INTEGER NOT NULL REFERENCES runs (seq),
  -- After this event of the run's stream, up to the other.
  from_stream_seq INTEGER NOT NULL,
  to_stream_seq   INTEGER NOT NULL,
  PRIMARY KEY (run_seq, to_stream_seq)
) STRICT, WITHOUT ROWID;

-- Sessions that were deleted before have lost their files, but not their texts.
INSERT INTO cleanups (session_seq, created_at)
  SELECT seq, deleted_at FROM sessions WHERE deleted_at IS NOT NULL ON CONFLICT DO NOTHING;
`;
