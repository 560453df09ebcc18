// What any node needs to know of a run: the trace that its request belongs to, and since when it may be claimed.

export const runsAnywhere = `
ALTER TABLE runs ADD COLUMN trace_parent TEXT;
ALTER TABLE runs ADD COLUMN ready_at INTEGER;
`;
