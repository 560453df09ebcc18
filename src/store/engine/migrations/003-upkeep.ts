// The third schema: indexes for queries that read a whole table.

export const upkeep = `
CREATE INDEX insights_by_session ON insights (session_seq, seq);
`;
