// Runs of the Responses protocol. They stay runs of 'chat' to code that doesn't know the column.

export const responses = `
ALTER TABLE runs ADD COLUMN response TEXT;
`;
