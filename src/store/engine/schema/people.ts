// Users, their teams, keys, log-ins and connections, and the ids of what the config directory defines.

export const people = `
CREATE TABLE teams (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  seq              INTEGER PRIMARY KEY,
  id               TEXT    NOT NULL UNIQUE,
  username         TEXT    NOT NULL UNIQUE,
  full_name        TEXT    NOT NULL,
  department       TEXT    NOT NULL,
  role             TEXT    NOT NULL CHECK (role IN ('admin', 'user')),
  team_id          TEXT    REFERENCES teams (id),
  functional_role  TEXT,
  scenario         TEXT,
  disabled         INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  password_hash    TEXT    NOT NULL,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  -- What the username is compared by: account_of() is accountOf of domain/account-name.ts.
  account          TEXT    NOT NULL DEFAULT '',
  -- 1 for accounts of earlier times that look like one another: each is found by its exact username alone.
  exact_only       INTEGER NOT NULL DEFAULT 0 CHECK (exact_only IN (0, 1)),
  -- Counts the passwords; a login token names the one it was issued under.
  token_generation INTEGER NOT NULL DEFAULT 0,
  -- Of all sessions of the user.
  workspace_bytes  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX users_by_account ON users (account) WHERE exact_only = 0;
CREATE INDEX users_exact_only ON users (account) WHERE exact_only = 1;
CREATE INDEX users_by_scenario ON users (scenario) WHERE scenario IS NOT NULL AND disabled = 0;
CREATE INDEX users_disabled ON users (disabled) WHERE disabled = 1;

CREATE TABLE api_keys (
  seq               INTEGER PRIMARY KEY,
  id                TEXT    NOT NULL UNIQUE,
  user_seq          INTEGER NOT NULL REFERENCES users (seq),
  name              TEXT    NOT NULL,
  scope             TEXT    NOT NULL CHECK (scope IN ('conversation', 'global', 'admin')),
  secret_sha256     BLOB    NOT NULL,
  last_four         TEXT    NOT NULL,
  model             TEXT,
  target            TEXT    NOT NULL,
  project_id        TEXT,
  expires_at        INTEGER,
  last_used_at      INTEGER,
  revoked_at        INTEGER,
  -- JSON of the capabilities that differ from none at all (§2.10).
  capability_config TEXT    NOT NULL DEFAULT '{}',
  created_at        INTEGER NOT NULL,
  -- Sessions that its list has; see the triggers of sessions.
  listed_sessions   INTEGER NOT NULL DEFAULT 0,
  -- How its sessions are found for clients that name none, such as 'header:X-Chat-Id'; NULL: not at all.
  continue_by       TEXT
) STRICT;
CREATE INDEX api_keys_by_user ON api_keys (user_seq);
CREATE INDEX api_keys_by_model ON api_keys (model) WHERE model IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX api_keys_by_target ON api_keys (target) WHERE target <> 'free' AND revoked_at IS NULL;

-- What login tokens are signed with. The secret is derived from the salt and the master key, so neither is enough.
CREATE TABLE signing_keys (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  salt       BLOB    NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER,
  revoked_at INTEGER,
  CHECK (revoked_at IS NULL OR retired_at IS NOT NULL)
) STRICT;
-- One key signs.
CREATE UNIQUE INDEX signing_keys_current ON signing_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

-- Integer ids of what the config directory defines by name (§2.10, J4): given at first sight, kept for good.
CREATE TABLE definition_ids (
  id   INTEGER PRIMARY KEY,
  kind TEXT    NOT NULL CHECK (kind IN ('mcp_server', 'skill', 'plugin', 'expert')),
  name TEXT    NOT NULL,
  UNIQUE (kind, name)
) STRICT;

-- A user's connection to a service that a connector describes (I4). The secret is encrypted under the master key (J6).
CREATE TABLE connections (
  seq        INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  user_seq   INTEGER NOT NULL REFERENCES users (seq),
  connector  TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  secret     BLOB,
  state      TEXT    NOT NULL CHECK (state IN ('active', 'failed', 'revoked')),
  last_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX connections_by_user ON connections (user_seq, seq);

-- Log-ins of browsers to Office Mode: a code for one use, then a cookie (0054).
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
