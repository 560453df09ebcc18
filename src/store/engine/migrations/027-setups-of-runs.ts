// What models were asked with besides the conversation.
export const setupsOfRuns = `
-- JSON: instructions, and definitions of tools.
CREATE TABLE run_setups (
  seq    INTEGER PRIMARY KEY,
  sha256 TEXT    NOT NULL UNIQUE,
  text   TEXT    NOT NULL
) STRICT;
-- In the first reply of each attempt; NULL in others, and in rows of before.
ALTER TABLE steps ADD COLUMN setup INTEGER REFERENCES run_setups (seq) ON DELETE SET NULL;
CREATE INDEX steps_by_setup ON steps (setup) WHERE setup IS NOT NULL;
`;
