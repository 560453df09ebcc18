// Scheduled tasks and their firings.

export const schedules = `
CREATE TABLE scheduled_tasks (
  seq             INTEGER PRIMARY KEY,
  id              TEXT    NOT NULL UNIQUE,
  user_seq        INTEGER NOT NULL REFERENCES users (seq),
  name            TEXT    NOT NULL,
  cron            TEXT    NOT NULL,
  timezone        TEXT    NOT NULL,
  target          TEXT    NOT NULL,
  project_id      TEXT,
  enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  overlap         TEXT    NOT NULL CHECK (overlap IN ('skip', 'queue')),
  -- NULL while it is disabled. It stays while the firing is put off.
  next_fire_at    INTEGER,
  -- When it is tried: at its time, or later when it was put off.
  look_at         INTEGER,
  -- When next_fire_at was computed: a clock that is put back behind it makes it out of date.
  counted_at      INTEGER NOT NULL,
  last_fired_at   INTEGER,
  last_skipped_at INTEGER,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  -- A deleted one is gone for its owner; runs and firings still refer to its row.
  deleted_at      INTEGER,
  CHECK ((next_fire_at IS NULL) = (look_at IS NULL)),
  CHECK (enabled = 1 OR next_fire_at IS NULL),
  CHECK (deleted_at IS NULL OR enabled = 0)
) STRICT;
CREATE INDEX scheduled_tasks_due ON scheduled_tasks (look_at, seq) WHERE look_at IS NOT NULL;
CREATE INDEX scheduled_tasks_counted ON scheduled_tasks (counted_at) WHERE look_at IS NOT NULL;
CREATE INDEX scheduled_tasks_by_owner ON scheduled_tasks (user_seq, seq) WHERE deleted_at IS NULL;
CREATE INDEX scheduled_tasks_kept ON scheduled_tasks (seq) WHERE deleted_at IS NULL;
CREATE INDEX scheduled_tasks_by_name ON scheduled_tasks (name, seq) WHERE deleted_at IS NULL;
CREATE INDEX scheduled_tasks_enabled ON scheduled_tasks (user_seq) WHERE enabled = 1;
CREATE INDEX scheduled_tasks_deleted ON scheduled_tasks (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX scheduled_tasks_by_target ON scheduled_tasks (target) WHERE target <> 'free' AND enabled = 1;

-- The steps of a task: the newest are its own, earlier ones stay until the firings that began with them have ended.
CREATE TABLE task_plans (
  seq      INTEGER PRIMARY KEY,
  task_seq INTEGER NOT NULL REFERENCES scheduled_tasks (seq),
  -- What precedes the first step; NULL for none.
  prompt   TEXT,
  -- JSON array of {id, prompt}.
  steps    TEXT    NOT NULL
) STRICT;
CREATE INDEX task_plans_by_task ON task_plans (task_seq, seq);

CREATE TABLE firings (
  id          INTEGER PRIMARY KEY,
  task_seq    INTEGER NOT NULL REFERENCES scheduled_tasks (seq),
  session_seq INTEGER NOT NULL REFERENCES sessions (seq),
  -- NULL once it has ended.
  plan_seq    INTEGER REFERENCES task_plans (seq),
  trigger     TEXT    NOT NULL CHECK (trigger IN ('clock', 'manual')),
  due_at      INTEGER NOT NULL,
  status      TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed', 'stopped')),
  -- The last step that has a run, and that run.
  step_no     INTEGER NOT NULL,
  step_count  INTEGER NOT NULL,
  run_seq     INTEGER REFERENCES runs (seq),
  created_at  INTEGER NOT NULL,
  ended_at    INTEGER,
  CHECK ((ended_at IS NULL) = (status IN ('pending', 'running'))),
  CHECK ((ended_at IS NULL) = (plan_seq IS NOT NULL))
) STRICT;
-- No time fires twice, whatever the clock does.
CREATE UNIQUE INDEX firings_by_due ON firings (task_seq, due_at) WHERE trigger = 'clock';
CREATE INDEX firings_by_task ON firings (task_seq, id);
CREATE INDEX firings_unfinished ON firings (task_seq, id) WHERE ended_at IS NULL;
CREATE INDEX firings_by_plan ON firings (plan_seq) WHERE plan_seq IS NOT NULL;
CREATE INDEX firings_ended ON firings (ended_at) WHERE ended_at IS NOT NULL;

-- Which step of which firing a run is.
CREATE TABLE scheduled_runs (
  run_seq   INTEGER PRIMARY KEY REFERENCES runs (seq),
  firing_id INTEGER NOT NULL REFERENCES firings (id),
  step_id   TEXT    NOT NULL
) STRICT;
CREATE INDEX scheduled_runs_by_firing ON scheduled_runs (firing_id);
`;
