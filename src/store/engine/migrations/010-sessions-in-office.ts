// The tenth schema: reads of one session without a scan of all its runs.

export const sessionsInOffice = `
-- What filled the model's window at the call, in tokens: estimates that add up to its input. 0 for steps of before.
ALTER TABLE steps ADD COLUMN system_tokens  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN history_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN tools_tokens   INTEGER NOT NULL DEFAULT 0;

-- Pictures are looked for by session: ids of tool uses are unique within a run only.
ALTER TABLE screenshots ADD COLUMN session_seq INTEGER REFERENCES sessions (seq);
UPDATE screenshots SET session_seq = (SELECT session_seq FROM runs WHERE seq = screenshots.run_seq);
CREATE INDEX screenshots_by_session ON screenshots (session_seq, tool_use_id, run_seq);

CREATE INDEX runs_failed ON runs (session_seq, seq) WHERE status IN ('failed', 'incomplete');

-- Of the runs that have ended.
ALTER TABLE session_totals ADD COLUMN worked_ms INTEGER NOT NULL DEFAULT 0;
UPDATE session_totals SET worked_ms = (
  SELECT coalesce(sum(r.worked_ms), 0) FROM runs r
  WHERE r.session_seq = session_totals.session_seq AND r.finished_at IS NOT NULL);
`;
