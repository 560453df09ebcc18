// Streamed text is found by stretches of the journal: the pieces of all runs that stream at a time share the pages of its index.

export const textByStretches = `
-- What was left of runs whose removal had begun: it has no event any more that says where it is.
DELETE FROM events WHERE type = 'content_block_delta' AND run_seq IN (
  SELECT r.seq FROM runs r WHERE EXISTS (SELECT 1 FROM events e WHERE e.run_seq = r.seq)
    AND NOT EXISTS (SELECT 1 FROM events e WHERE e.run_seq = r.seq AND e.stream_seq = 1));
DROP INDEX events_by_run;
CREATE UNIQUE INDEX events_by_run ON events (run_seq, stream_seq)
  WHERE run_seq IS NOT NULL AND type <> 'content_block_delta';
CREATE INDEX events_of_text ON events (id >> 9, run_seq) WHERE type = 'content_block_delta';
`;
