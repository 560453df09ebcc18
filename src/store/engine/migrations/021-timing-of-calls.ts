// Model calls with what they were for, and how long their parts took.

export const timingOfCalls = `
-- NULL in rows of before. \`step\`: of the reply, NULL for calls of sub-agents and for summaries. \`agent\`: the sub-agent.
ALTER TABLE usage_records ADD COLUMN purpose        TEXT CHECK (purpose IN ('reply', 'agent', 'summary'));
ALTER TABLE usage_records ADD COLUMN step           INTEGER;
ALTER TABLE usage_records ADD COLUMN agent          TEXT;
-- Durations, as the worker measured them; \`first_token_ms\` is NULL when no token came.
ALTER TABLE usage_records ADD COLUMN tries          INTEGER;
ALTER TABLE usage_records ADD COLUMN commit_wait_ms INTEGER;
ALTER TABLE usage_records ADD COLUMN permit_wait_ms INTEGER;
ALTER TABLE usage_records ADD COLUMN retry_wait_ms  INTEGER;
ALTER TABLE usage_records ADD COLUMN first_token_ms INTEGER;
ALTER TABLE usage_records ADD COLUMN duration_ms    INTEGER;
`;
