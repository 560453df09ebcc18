// How far retention has removed by the ends of runs: the index of the ends serves it, and a run is in no index of its own for that.

export const placesOfRetention = `
CREATE TABLE retention_places (
  kind TEXT    PRIMARY KEY,
  -- The end of the last run that is done, and its key.
  at   INTEGER NOT NULL,
  key  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- What ended before the oldest that is left is done.
INSERT INTO retention_places (kind, at, key) SELECT 'events', min(finished_at), 0 FROM runs
  WHERE finished_at IS NOT NULL AND events_removed_at IS NULL HAVING min(finished_at) IS NOT NULL;
INSERT INTO retention_places (kind, at, key) SELECT 'details', min(finished_at), 0 FROM runs
  WHERE finished_at IS NOT NULL AND details_removed_at IS NULL HAVING min(finished_at) IS NOT NULL;
DROP INDEX runs_with_events;
DROP INDEX runs_with_details;
-- In the order of the keys where runs ended at the same moment.
DROP INDEX runs_ended;
CREATE INDEX runs_ended ON runs (finished_at, seq, status, session_seq) WHERE finished_at IS NOT NULL;
`;
