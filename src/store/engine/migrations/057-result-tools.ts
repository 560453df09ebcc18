// Runs whose result is a call of their client's tool. To code that doesn't know the column, the result is their content.

export const resultTools = `
ALTER TABLE runs ADD COLUMN result_tool TEXT;
`;
