// Account names are compared by their appearance; a new password invalidates the login tokens of the old one.

export const accounts = `
-- What the username is compared by: account_of() is accountOf of domain/account-name.ts.
ALTER TABLE users ADD COLUMN account TEXT NOT NULL DEFAULT '';
-- 1 for accounts of earlier times that look like one another: each is found by its exact username alone.
ALTER TABLE users ADD COLUMN exact_only INTEGER NOT NULL DEFAULT 0 CHECK (exact_only IN (0, 1));
-- Counts the passwords; a login token names the one it was issued under.
ALTER TABLE users ADD COLUMN token_generation INTEGER NOT NULL DEFAULT 0;
UPDATE users SET account = account_of(username);
UPDATE users SET exact_only = 1 WHERE account IN (SELECT account FROM users GROUP BY account HAVING count(*) > 1);
CREATE UNIQUE INDEX users_by_account ON users (account) WHERE exact_only = 0;
CREATE INDEX users_exact_only ON users (account) WHERE exact_only = 1;
`;
