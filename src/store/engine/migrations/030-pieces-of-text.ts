// Text that is streamed is in the index of its run alone: each piece would change a page of its session's index, too.

export const piecesOfText = `
DROP INDEX events_by_session;
CREATE INDEX events_by_session ON events (session_seq) WHERE type <> 'content_block_delta';
-- Says whose text was streamed at any place in a session's journal.
CREATE INDEX events_of_starts ON events (session_seq) WHERE type = 'run.started';
`;
