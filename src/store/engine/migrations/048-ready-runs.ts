// Since when runs may be claimed, from which their wait for the node with their files is measured.

export const readyRuns = `
ALTER TABLE runs ADD COLUMN ready_at INTEGER;
`;
