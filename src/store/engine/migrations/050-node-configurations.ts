// What a node has configured, so that others see where theirs differs.

export const nodeConfigurations = `
ALTER TABLE worker_nodes ADD COLUMN configuration TEXT;
`;
