// Where a reply has its result: in its content on chat, and where a Messages request asks as client libraries do.
export const resultsInContent = `
ALTER TABLE runs ADD COLUMN result_in_content INTEGER NOT NULL DEFAULT 0 CHECK (result_in_content IN (0, 1));
UPDATE runs SET result_in_content = 1 WHERE protocol = 'chat' AND output_schema IS NOT NULL;
`;
