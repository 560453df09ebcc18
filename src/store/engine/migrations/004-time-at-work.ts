// A run's time limit counts its time at work, whatever happens to the daemon or to the wall clock in between.

export const timeAtWork = `
-- Milliseconds that a worker was at the run until \`worked_until\`, a moment on the clock that does not jump.
ALTER TABLE runs ADD COLUMN worked_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN worked_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs DROP COLUMN waited_ms;
`;
