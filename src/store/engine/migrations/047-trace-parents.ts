// The traces that requests of runs belong to: any node may be the one that ends a run, and traces it.

export const traceParents = `
ALTER TABLE runs ADD COLUMN trace_parent TEXT;
`;
