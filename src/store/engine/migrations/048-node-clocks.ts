// How far the clock of each node is ahead of the database's.

export const nodeClocks = `
ALTER TABLE worker_nodes ADD COLUMN clock_ahead_ms INTEGER;
`;
