// Log-ins of browsers to Office Mode (0054). Code that doesn't know the table serves no browsers.

export const officeLogins = `
CREATE TABLE office_logins (
  seq           INTEGER PRIMARY KEY,
  id            TEXT    NOT NULL UNIQUE,
  -- NULL: of the operator behind the control socket.
  key_seq       INTEGER REFERENCES api_keys (seq),
  code_sha256   BLOB    NOT NULL UNIQUE,
  cookie_sha256 BLOB    UNIQUE,
  created_at    INTEGER NOT NULL,
  used_at       INTEGER,
  -- Of the code until it is used, then of the cookie.
  ends_at       INTEGER NOT NULL
) STRICT;
`;
