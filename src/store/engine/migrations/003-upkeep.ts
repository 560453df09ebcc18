// The third schema: indexes for what was found by reading a whole table.

export const upkeep = `
CREATE INDEX insights_by_session ON insights (session_seq, seq);
`;
