// Webhooks: who wants to be told of what, what each is told, and how far the journal has been looked through.

export const webhooks = `
CREATE TABLE webhooks (
  -- Also the id on the wire, so none is given twice.
  id                    INTEGER PRIMARY KEY AUTOINCREMENT,
  -- NULL for a system webhook, which is told of all users' events.
  user_seq              INTEGER REFERENCES users (seq),
  name                  TEXT    NOT NULL,
  url                   TEXT    NOT NULL,
  -- JSON array of event types.
  events                TEXT    NOT NULL,
  -- NULL: global scope.
  project_id            TEXT,
  -- JSON array; NULL: every kind.
  session_kinds         TEXT,
  -- Sealed outside of the store. After a rotation the previous one signs as well, until its time is over.
  secret                BLOB,
  previous_secret       BLOB,
  previous_secret_until INTEGER,
  timeout_ms            INTEGER NOT NULL,
  retry_count           INTEGER NOT NULL,
  retry_backoff_ms      INTEGER NOT NULL,
  enabled               INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- Why the daemon disabled it.
  disabled_reason       TEXT,
  -- Since the last success: the first failure, and how many there were.
  failing_since         INTEGER,
  failures              INTEGER NOT NULL DEFAULT 0,
  last_success_at       INTEGER,
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  -- A deleted one is gone for its owner; its row stays until the deliveries are removed.
  deleted_at            INTEGER,
  -- Grows when it is enabled or its address changes: attempts of an earlier epoch say nothing of it.
  epoch                 INTEGER NOT NULL DEFAULT 1,
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL)),
  CHECK (previous_secret IS NULL OR secret IS NOT NULL),
  CHECK (disabled_reason IS NULL OR enabled = 0),
  CHECK (deleted_at IS NULL OR enabled = 0)
) STRICT;
CREATE INDEX webhooks_by_owner ON webhooks (user_seq, id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_troubled ON webhooks (id)
  WHERE (disabled_reason IS NOT NULL OR (failing_since IS NOT NULL AND enabled = 1));
CREATE INDEX webhooks_deleted ON webhooks (id) WHERE deleted_at IS NOT NULL;

-- What enabled webhooks want: \`user_seq\` is whose events, 0 is everybody's. Kept with each change of a webhook.
CREATE TABLE webhook_subscriptions (
  event_type TEXT    NOT NULL,
  user_seq   INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL REFERENCES webhooks (id),
  PRIMARY KEY (event_type, user_seq, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_subscriptions_of ON webhook_subscriptions (webhook_id);

-- One row: up to this event of the journal every delivery has been planned.
CREATE TABLE webhook_planning (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  cursor INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_planning (id, cursor) VALUES (1, 0);

CREATE TABLE webhook_deliveries (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id       INTEGER NOT NULL REFERENCES webhooks (id),
  -- The webhook's \`user_seq\`, 0 for a system webhook.
  owner            INTEGER NOT NULL,
  -- The same for all webhooks of one event.
  event_id         TEXT    NOT NULL,
  event_type       TEXT    NOT NULL,
  -- NULL for a test without a session.
  session_seq      INTEGER REFERENCES sessions (seq),
  is_test          INTEGER NOT NULL CHECK (is_test IN (0, 1)),
  state            TEXT    NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'canceled')),
  attempt_count    INTEGER NOT NULL DEFAULT 0,
  -- How many failures end it.
  attempts_left    INTEGER NOT NULL,
  -- Wall time.
  next_attempt_at  INTEGER,
  last_status_code INTEGER,
  last_error       TEXT,
  -- The bytes that each attempt sends; '' once they were erased with their session.
  body             TEXT    NOT NULL,
  created_at       INTEGER NOT NULL,
  delivered_at     INTEGER,
  -- NULL while it is pending.
  ended_at         INTEGER,
  UNIQUE (event_id, webhook_id),
  CHECK ((next_attempt_at IS NOT NULL) = (state = 'pending'))
) STRICT;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhook_deliveries_by_webhook_state ON webhook_deliveries (webhook_id, state, created_at);
CREATE INDEX webhook_deliveries_by_owner ON webhook_deliveries (owner, created_at);
CREATE INDEX webhook_deliveries_by_owner_state ON webhook_deliveries (owner, state, created_at);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_by_session ON webhook_deliveries (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_owner_type ON webhook_deliveries (owner, event_type, created_at);
CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries (event_type, created_at);
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (state, created_at);

CREATE TABLE webhook_attempts (
  delivery_id      INTEGER NOT NULL REFERENCES webhook_deliveries (id),
  no               INTEGER NOT NULL,
  at               INTEGER NOT NULL,
  -- NULL: no reply came.
  status_code      INTEGER,
  duration_ms      INTEGER NOT NULL,
  -- NULL: the receiver answered 2xx.
  error            TEXT,
  response_excerpt TEXT,
  PRIMARY KEY (delivery_id, no)
) STRICT, WITHOUT ROWID;
`;
