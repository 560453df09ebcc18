// Endpoints of models that have answered as they are configured.

export const answeredEndpoints = `
CREATE TABLE answered_endpoints (
  seq         INTEGER PRIMARY KEY,
  -- By an HMAC of the address and the credential.
  name        TEXT    NOT NULL UNIQUE,
  answered_at INTEGER NOT NULL
) STRICT;
`;
