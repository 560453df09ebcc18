// The model of a team's lead has a column of its own, so that an engine need not parse JSON for it.

export const leadModel = `
-- NULL without a team, or when its lead has no model of its own.
ALTER TABLE sessions ADD COLUMN lead_model TEXT;
UPDATE sessions SET lead_model = orchestration ->> '$.lead.model' WHERE orchestration IS NOT NULL;
`;
