// The disabled users, whose pages nobody can read: every look at the board asks for them.

export const disabledUsers = `
CREATE INDEX users_disabled ON users (disabled) WHERE disabled = 1;
`;
