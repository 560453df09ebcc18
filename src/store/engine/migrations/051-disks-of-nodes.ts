// Whose disk a sample is of.

export const disksOfNodes = `
ALTER TABLE disk_samples ADD COLUMN node_id TEXT;
`;
