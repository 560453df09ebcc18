// Rows with long texts get a table of their own, with an index beside it. Where the rows are the index, each search reads whole those that
// it compares: a text of 4 MB made looking up a neighbour's row take milliseconds.

const STEPS = `run_seq, step, attempt, kind, message, text, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, created_at,
  system_tokens, history_tokens, tools_tokens, setup`;
const CALLS = 'run_seq, step, position, tool_use_id, name, input, state, ok, output, duration_ms, created_at';

export const largeRows = `
CREATE TABLE steps_rebuilt (
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
  setup              INTEGER REFERENCES run_setups (seq) ON DELETE SET NULL,
  PRIMARY KEY (run_seq, step)
) STRICT;
INSERT INTO steps_rebuilt (${STEPS}) SELECT ${STEPS} FROM steps ORDER BY run_seq, step;

CREATE TABLE tool_calls_rebuilt (
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
INSERT INTO tool_calls_rebuilt (${CALLS}) SELECT ${CALLS} FROM tool_calls ORDER BY run_seq, step, position;

DROP TABLE tool_calls;
DROP TABLE steps;
ALTER TABLE steps_rebuilt RENAME TO steps;
ALTER TABLE tool_calls_rebuilt RENAME TO tool_calls;
CREATE INDEX steps_by_setup ON steps (setup) WHERE setup IS NOT NULL;
`;
