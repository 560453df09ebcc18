// Runs: their steps and tool calls, and what is known of a run while it is executed.

export const runs = `
CREATE TABLE runs (
  seq                INTEGER PRIMARY KEY,
  id                 TEXT    NOT NULL UNIQUE,
  session_seq        INTEGER NOT NULL REFERENCES sessions (seq),
  user_seq           INTEGER NOT NULL REFERENCES users (seq),
  key_seq            INTEGER REFERENCES api_keys (seq),
  -- The team of the run's owner when the run was accepted; NULL without one, and for runs of before.
  team_id            TEXT,
  protocol           TEXT    NOT NULL CHECK (protocol IN ('chat', 'messages')),
  -- 'waiting': for its user, without a worker and without a slot; reported as 'running' (I2).
  status             TEXT    NOT NULL CHECK (status = 'queued' OR status = 'running' OR status = 'waiting'
    OR status = 'finalizing' OR status = 'completed' OR status = 'failed' OR status = 'canceled' OR status = 'incomplete'),
  schedule_mode      TEXT    NOT NULL CHECK (schedule_mode = 'immediate' OR schedule_mode = 'queued'
    OR schedule_mode = 'background' OR schedule_mode = 'scheduled'),
  -- 1 when no earlier run of the session is unfinished: only such runs may be claimed.
  ready              INTEGER NOT NULL CHECK (ready IN (0, 1)),
  attempt            INTEGER NOT NULL DEFAULT 0,
  resumes            INTEGER NOT NULL DEFAULT 0,
  lease_until        INTEGER,
  requested_model    TEXT    NOT NULL,
  model              TEXT,
  include_usage      INTEGER NOT NULL CHECK (include_usage IN (0, 1)),
  -- 1 when the run's request created its session; such requests have idempotency keys of their own (D4).
  opened_session     INTEGER NOT NULL CHECK (opened_session IN (0, 1)),
  idempotency_key    TEXT,
  target             TEXT    NOT NULL,
  input_tokens       INTEGER NOT NULL DEFAULT 0,
  output_tokens      INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd           REAL    NOT NULL DEFAULT 0,
  -- Finished tool calls.
  tool_count         INTEGER NOT NULL DEFAULT 0,
  stop_reason        TEXT,
  error              TEXT,
  outcome            TEXT    CHECK (outcome = 'completed' OR outcome = 'failed' OR outcome = 'incomplete'),
  answer             TEXT,
  -- Schema of the result the run must submit; NULL when its answer is text.
  output_schema      TEXT,
  -- The submitted result as JSON text: 'null' is a result, NULL is none.
  structured_output  TEXT,
  background_payload TEXT,
  -- Runs of before there were artifacts have none of their own (§3.2).
  artifact_status    TEXT    NOT NULL DEFAULT 'unavailable' CHECK (artifact_status = 'pending' OR artifact_status = 'ready'
    OR artifact_status = 'failed' OR artifact_status = 'unavailable'),
  -- On the clock that does not jump: a wait for a worker is measured from here.
  worked_ms          INTEGER NOT NULL DEFAULT 0,
  created_at         INTEGER NOT NULL,
  started_at         INTEGER,
  finished_at        INTEGER,
  -- Whom a run competes as: its key, or its user where there is none.
  lane               INTEGER GENERATED ALWAYS AS (coalesce(key_seq, -user_seq)) VIRTUAL,
  -- When the journal of the run was removed, and its tool calls; NULL while they are kept.
  events_removed_at  INTEGER,
  details_removed_at INTEGER,
  -- 1 when its result is in the content of its reply, as clients of Messages read it.
  result_in_content  INTEGER NOT NULL DEFAULT 0 CHECK (result_in_content IN (0, 1)),
  -- The node that has claimed it last; NULL before, and for runs of before.
  node_id            TEXT,
  -- The trace that its request belongs to, as the header \`traceparent\`; NULL without, and while nothing is traced.
  trace_parent       TEXT,
  -- Since when it may be claimed, at last; NULL: since it was accepted.
  ready_at           INTEGER,
  -- JSON: what a Response repeats of its request. Such a run is one of the protocol 'responses', and has the journal of 'chat'.
  response           TEXT,
  -- Of keys whose clients resend the conversation: its hash up to the user's message, with the answer, and with all that was streamed.
  history_asked      BLOB,
  history_answered   BLOB,
  history_streamed   BLOB,
  -- JSON: the tool of its client that its result is a call of; NULL for any other reply.
  result_tool        TEXT,
  CHECK (outcome IS NOT 'completed' OR (output_schema IS NULL) = (structured_output IS NULL)),
  CHECK ((finished_at IS NOT NULL) = (status = 'completed' OR status = 'failed' OR status = 'canceled'
    OR status = 'incomplete'))
) STRICT;
CREATE INDEX runs_executing ON runs (key_seq) WHERE status IN ('running', 'finalizing');
CREATE INDEX runs_by_session ON runs (session_seq, seq);
CREATE UNIQUE INDEX runs_by_opening_key ON runs (user_seq, key_seq, target, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND opened_session = 1 AND schedule_mode <> 'background';
CREATE UNIQUE INDEX runs_by_continuing_key ON runs (session_seq, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND opened_session = 0 AND schedule_mode <> 'background';
CREATE UNIQUE INDEX runs_by_background_key ON runs (key_seq, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND schedule_mode = 'background';
CREATE INDEX runs_to_collect ON runs (session_seq, seq) WHERE artifact_status = 'pending' AND finished_at IS NOT NULL;
CREATE INDEX runs_failed ON runs (session_seq, seq) WHERE status IN ('failed', 'incomplete');
-- Runs that have not ended, with what tells whose they are.
CREATE INDEX runs_live ON runs (status, seq, session_seq, user_seq, team_id) WHERE finished_at IS NULL;
CREATE INDEX runs_claimable ON runs (key_seq, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode NOT IN ('background', 'scheduled');
CREATE INDEX runs_claimable_background ON runs (lane, seq)
  WHERE status = 'queued' AND ready = 1 AND schedule_mode IN ('background', 'scheduled');
CREATE INDEX runs_waiting_background ON runs (seq) WHERE status = 'queued' AND schedule_mode IN ('background', 'scheduled');
CREATE INDEX runs_executing_background ON runs (lane)
  WHERE status IN ('running', 'finalizing') AND schedule_mode IN ('background', 'scheduled');
CREATE INDEX runs_unfinished ON runs (session_seq, seq) WHERE finished_at IS NULL;
CREATE INDEX runs_unfinished_background ON runs (user_seq, key_seq)
  WHERE finished_at IS NULL AND schedule_mode IN ('background', 'scheduled');
CREATE INDEX runs_ended ON runs (finished_at, seq, status, session_seq) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_by_answered ON runs (key_seq, history_answered, seq) WHERE history_answered IS NOT NULL;
CREATE INDEX runs_by_streamed ON runs (key_seq, history_streamed, seq) WHERE history_streamed IS NOT NULL;

-- JSON: instructions, and definitions of tools.
CREATE TABLE run_setups (
  seq    INTEGER PRIMARY KEY,
  sha256 TEXT    NOT NULL UNIQUE,
  text   TEXT    NOT NULL
) STRICT;

CREATE TABLE steps (
  run_seq            INTEGER NOT NULL REFERENCES runs (seq),
  step               INTEGER NOT NULL,
  attempt            INTEGER NOT NULL,
  kind               TEXT    NOT NULL,
  message            TEXT    NOT NULL,
  text               TEXT    NOT NULL,
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  -- How the input tokens were divided, by estimate.
  system_tokens      INTEGER NOT NULL DEFAULT 0,
  history_tokens     INTEGER NOT NULL DEFAULT 0,
  tools_tokens       INTEGER NOT NULL DEFAULT 0,
  -- In the first reply of each attempt; NULL in others, and in rows of before.
  setup              INTEGER REFERENCES run_setups (seq) ON DELETE SET NULL,
  PRIMARY KEY (run_seq, step)
) STRICT;
CREATE INDEX steps_by_setup ON steps (setup) WHERE setup IS NOT NULL;

CREATE TABLE tool_calls (
  run_seq     INTEGER NOT NULL,
  step        INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  tool_use_id TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  input       TEXT    NOT NULL,
  -- 'running': it has begun; without an output after a crash, its outcome is unknown.
  state       TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'ended')),
  ok          INTEGER CHECK (ok IN (0, 1)),
  output      TEXT,
  duration_ms INTEGER,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (run_seq, step, position),
  FOREIGN KEY (run_seq, step) REFERENCES steps (run_seq, step),
  CHECK ((output IS NOT NULL) = (state = 'ended'))
) STRICT;

-- Model calls in progress where a budget applies: one for the attempt of a run.
CREATE TABLE calls_in_progress (
  run_seq      INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
  attempt      INTEGER NOT NULL,
  -- Where the run executed then; NULL in rows of before.
  node_id      TEXT,
  -- Whose budgets it uses.
  key_seq      INTEGER,
  user_seq     INTEGER NOT NULL,
  team_id      TEXT,
  -- What it may use at most.
  most_tokens  INTEGER NOT NULL,
  most_usd     REAL    NOT NULL,
  model        TEXT    NOT NULL,
  -- Of the prompt, estimated.
  input_tokens INTEGER NOT NULL,
  cost_usd     REAL    NOT NULL,
  PRIMARY KEY (run_seq, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_in_progress_by_key ON calls_in_progress (key_seq) WHERE key_seq IS NOT NULL;
CREATE INDEX calls_in_progress_by_user ON calls_in_progress (user_seq);
CREATE INDEX calls_in_progress_by_team ON calls_in_progress (team_id) WHERE team_id IS NOT NULL;

-- Streamed text that belongs to no reply, because its worker was lost or its model failed: its deltas are still to be emptied.
CREATE TABLE discarded_texts (
  run_seq         INTEGER NOT NULL REFERENCES runs (seq),
  -- After this event of the run's stream, up to the other.
  from_stream_seq INTEGER NOT NULL,
  to_stream_seq   INTEGER NOT NULL,
  PRIMARY KEY (run_seq, to_stream_seq)
) STRICT, WITHOUT ROWID;

-- What the browser showed, one picture a tool use.
CREATE TABLE screenshots (
  run_seq     INTEGER NOT NULL REFERENCES runs (seq),
  tool_use_id TEXT    NOT NULL,
  sha256      TEXT    NOT NULL,
  mime_type   TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  -- Pictures are looked for by session: ids of tool uses are unique within a run only.
  session_seq INTEGER REFERENCES sessions (seq),
  PRIMARY KEY (run_seq, tool_use_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX screenshots_by_content ON screenshots (sha256);
CREATE INDEX screenshots_by_session ON screenshots (session_seq, tool_use_id, run_seq);

CREATE TABLE worker_nodes (
  id            TEXT    PRIMARY KEY,
  -- The process that beats; NULL once it has left.
  process       TEXT,
  -- Where its data directory is: a copy of it is at another place.
  place         TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  version       TEXT    NOT NULL,
  address       TEXT    NOT NULL,
  -- Runs that it can execute at once; 0: none.
  slots         INTEGER NOT NULL,
  -- A JSON array.
  labels        TEXT    NOT NULL,
  running       INTEGER NOT NULL,
  -- What operators have said, and what the node knew of it when it counted its runs.
  draining      INTEGER NOT NULL CHECK (draining IN (0, 1)),
  noticed       INTEGER NOT NULL CHECK (noticed IN (0, 1)),
  -- Grows while the node is alive; and while another process tries to beat with its id.
  beats         INTEGER NOT NULL,
  contests      INTEGER NOT NULL,
  -- By the database's clock.
  last_beat_at  INTEGER NOT NULL,
  registered_at INTEGER NOT NULL,
  -- 1: the one node that does what is done once for all of them.
  leader        INTEGER NOT NULL DEFAULT 0 CHECK (leader IN (0, 1)),
  -- Of its machine's clock, before the database's; NULL while it isn't known.
  clock_ahead_ms INTEGER,
  -- A JSON object: a fingerprint of each setting, and of each kind of definitions, that all nodes should have in common.
  configuration TEXT
) STRICT;
CREATE UNIQUE INDEX worker_nodes_leader ON worker_nodes (leader) WHERE leader = 1;

-- What all nodes have in common.
CREATE TABLE installation (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  -- The node that was alone when workspaces had none: those of such sessions are there.
  home_node     TEXT    NOT NULL,
  -- Names the master key, without telling it; NULL while no node has said.
  master_key_id TEXT
) STRICT;
`;
