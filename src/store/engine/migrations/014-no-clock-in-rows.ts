// No moment of one process's own clock is kept in a row: another process could not read it.

// Time at work is measured by the executor, waits in the queue and signs of life by each process that looks.
export const noClockInRows = `
ALTER TABLE runs DROP COLUMN worked_until;
ALTER TABLE runs DROP COLUMN queued_steady_at;

ALTER TABLE worker_nodes DROP COLUMN heartbeat_at;
-- Grows while the node is alive; NULL once it has left, as every node has when the schema changes.
ALTER TABLE worker_nodes ADD COLUMN beats INTEGER;
`;
