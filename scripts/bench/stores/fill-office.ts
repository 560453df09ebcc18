// Fills a closed store with weeks of work: teams, people, sessions, runs and their model calls.
import { inStore } from './fill-store.ts';

export interface Fixture {
  readonly teams: number;
  readonly users: number;
  readonly sessions: number;
  /** Model calls, evenly spread over the sessions. */
  readonly calls: number;
  /** The last of them. */
  readonly callsToday: number;
  /** Runs in progress, and as many that wait for a worker. */
  readonly live: number;
  /** The current time, epoch ms; today's calls are within the hours before. */
  readonly now: number;
}

const RUNS_OF_SESSION = 2;
/** One in this many users has no team. */
const WITHOUT_TEAM = 4;
const TODAY_MS = 8 * 3_600_000;
const BEFORE_MS = 20 * 86_400_000;
const IDS = `printf('%08x-0000-7000-8000-%012x', n, n)`;
const COUNTER = (count: number) =>
  `WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count})`;

/** Inserts the rows, then computes the sums from them. The store must be new and closed. */
export function fillOffice(dataDir: string, fixture: Fixture): void {
  const { teams, users, sessions, calls, callsToday, live, now } = fixture;
  const callsOfSession = calls / sessions;
  const runs = sessions * RUNS_OF_SESSION;
  const today = callsToday / callsOfSession;
  // Today's sessions come last, and are spread over its hours.
  const at = (n: string) =>
    `CASE WHEN ${n} > ${sessions - today} THEN ${now - TODAY_MS} + (${n} - ${sessions - today}) * ${TODAY_MS} / ${today}
       ELSE ${now - TODAY_MS - BEFORE_MS} + ${n} * ${BEFORE_MS} / ${sessions} END`;
  const user = (n: string) => `(SELECT max(seq) FROM users) - ${n} % ${users}`;
  inStore(dataDir, (database) =>
    database.exec(`
      INSERT INTO teams (id, name, created_at, updated_at)
        ${COUNTER(teams)} SELECT ${IDS}, 'Team ' || n, ${now}, ${now} FROM counter;
      INSERT INTO users (id, username, account, full_name, department, role, team_id, password_hash, created_at, updated_at)
        ${COUNTER(users)} SELECT ${IDS}, 'user' || n, 'user' || n, 'User ' || n, '', 'user',
          CASE WHEN n % ${WITHOUT_TEAM} = 0 THEN NULL ELSE (SELECT id FROM teams WHERE name = 'Team ' || (n / ${WITHOUT_TEAM} % ${teams} + 1)) END,
          '', ${now}, ${now} FROM counter;
      INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, created_at, updated_at)
        ${COUNTER(sessions)} SELECT ${IDS}, ${user('n')}, 1, 'api', 'Session ' || n, 'completed', ${at('n')}, ${at('n')} FROM counter;
      INSERT INTO runs (id, session_seq, user_seq, key_seq, protocol, status, schedule_mode, ready, requested_model, include_usage,
          opened_session, target, created_at, started_at, finished_at, team_id, attempt)
        ${COUNTER(runs)} SELECT ${IDS}, s.seq, s.user_seq, 1, 'messages', CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'completed' END,
          'immediate', 0, 'errand', 0, 0, 'free', s.created_at, s.created_at, s.created_at + 60000,
          (SELECT team_id FROM users WHERE seq = s.user_seq), 1
        FROM counter CROSS JOIN sessions s ON s.seq = (SELECT max(seq) FROM sessions) - ${sessions} + (n - 1) / ${RUNS_OF_SESSION} + 1;
      UPDATE runs SET finished_at = NULL, status = CASE WHEN seq % 2 = 0 THEN 'running' ELSE 'queued' END
        WHERE seq > (SELECT max(seq) FROM runs) - ${live * 2};
      INSERT INTO steps (run_seq, step, attempt, kind, message, text, input_tokens, output_tokens, cache_read_tokens,
          cache_write_tokens, created_at) SELECT seq, 1, 1, 'openai', '{}', '', 0, 0, 0, 0, created_at FROM runs WHERE finished_at IS NULL;
      INSERT INTO tool_calls (run_seq, step, position, tool_use_id, name, input, state, created_at) SELECT seq, 1, 0, 'call', 'shell', '{"command":"python plot.py"}', 'running',
        created_at FROM runs WHERE finished_at IS NULL;
      INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
        SELECT session_seq, seq, 1, 'run.queued', '{}', created_at FROM runs;
      INSERT INTO usage_records (at, session_seq, run_seq, user_seq, key_seq, team_id, model, input_tokens, output_tokens,
          cache_read_tokens, cache_write_tokens, cost_usd)
        ${COUNTER(callsOfSession)} SELECT r.created_at, r.session_seq, r.seq, r.user_seq, r.key_seq, r.team_id, 'errand',
          1000 + n, 100, 0, 0, 0.001 FROM runs r CROSS JOIN counter WHERE n <= ${callsOfSession / RUNS_OF_SESSION};
      ${SUMS}`),
  );
}

/** As the verbs update them with each row. */
const TEAM = `coalesce(x.team_id, r.team_id, '')`;
const USER = `CASE ${TEAM} WHEN '' THEN x.user_seq ELSE 0 END`;
const SUMS = `
  INSERT INTO usage_quarters SELECT x.at / 900000, ${TEAM}, ${USER}, sum(x.input_tokens + x.output_tokens), sum(x.cost_usd)
    FROM usage_records x JOIN runs r ON r.seq = x.run_seq GROUP BY 1, 2, 3;
  INSERT INTO session_activity SELECT x.session_seq, ${TEAM}, ${USER}, max(x.at / 900000), max(x.at / 900000), 0
    FROM usage_records x JOIN runs r ON r.seq = x.run_seq GROUP BY 1, 2, 3;
  INSERT INTO session_totals (session_seq, run_count, input_tokens, output_tokens, cost_usd)
    SELECT session_seq, count(DISTINCT run_seq), sum(input_tokens), sum(output_tokens), sum(cost_usd)
    FROM usage_records GROUP BY session_seq;
  UPDATE runs SET (input_tokens, output_tokens, cost_usd) = (SELECT sum(input_tokens), sum(output_tokens), sum(cost_usd)
    FROM usage_records x WHERE x.session_seq = runs.session_seq AND x.run_seq = runs.seq);`;
