// A daemon in the test's own process, so that its thread can be measured, with the largest of what tenants may have.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import { loadLiveConfig } from '../../../src/config/read-configuration.ts';
import { initialize, startDaemon } from '../../../src/daemon/daemon.ts';
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhooks/webhook.ts';
import { skill } from '../files/definitions.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { openLargeStore } from '../store/large-store.ts';

/** The longest text of a turn: 4 MB, all of it characters that JSON escapes or that take two bytes. */
const LONGEST_TEXT = '\u0001ö"'.repeat(1_000_000);
const [TURNS, SHORT_TURNS, STEPS, FILES, USERS, NODES, PAGES] = [6, 2_500, 100, 20_000, 2_000, 1_100, 300];
const SETTINGS = 'log: { level: fatal }\nshell: { enabled: false }\n';

/** Ids of what there is, by its name. */
export type LargeIds = Readonly<Record<string, string>>;

type LargeStore = ReturnType<typeof openLargeStore>;

/** Starts it. `settings`: more lines of `errand.yaml`. */
export async function largestDaemon({ settings = '' } = {}) {
  const [dataDir, configDir] = [temporaryDirectory(), temporaryDirectory(definitionFiles(SETTINGS + settings))];
  const loaded = loadLiveConfig({ dataDir, configDir, listen: '127.0.0.1:0' }, {});
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  const { apiKey } = await initialize(loaded.config, 'admin');
  const store = openLargeStore(join(dataDir, 'errand.db'));
  const ids = { ...fill(store), key: apiKey.id };
  store.close();
  const daemon = await startDaemon(loaded);
  await daemon.ready();
  onTestFinished(() => daemon.halt());
  return { daemon, url: daemon.url, key: apiKey.key, ids: ids as LargeIds, file: join(dataDir, 'errand.db') };
}

const definitionFiles = (settings: string) => ({
  'errand.yaml': settings,
  ...Object.fromEntries(
    Array.from({ length: 50 }, (_, no) => [
      `skills/skill-${no}/SKILL.md`,
      `${skill(`skill-${no}`)}${'Do it. '.repeat(5_000)}`,
    ]),
  ),
  ...Object.fromEntries(
    Array.from({ length: 50 }, (_, no) => [
      `experts/e${no}.md`,
      `---\ndescription: About it\n---\n${'Work. '.repeat(5_000)}`,
    ]),
  ),
});

function fill(store: LargeStore): LargeIds {
  const turns = store.conversation(TURNS, LONGEST_TEXT);
  const many = store.conversation(SHORT_TURNS, 'A short text.');
  const steps = store.longRun(STEPS, 'x"'.repeat(20_000));
  const files = store.workspace(FILES, (index) => `/src/${index % 50}/part-${index % 500}/file number ${index}.txt`);
  for (let page = 0; page < PAGES; page += 1) store.page(1, () => '/site/index.html', 'long '.repeat(400));
  const page = store.page(5_000, (index) => `/site/${index}.html`, 'long '.repeat(400));
  store.people(USERS);
  store.nodes(NODES);
  return {
    turns: turns.sessionId,
    many: many.sessionId,
    steps: steps.sessionId,
    files: files.sessionId,
    runOfSteps: steps.runId,
    runOfFiles: files.runId,
    page,
    ...fillQuestions(store),
    ...fillWebhooks(store),
    ...fillTasks(store),
    ...fillEvents(store),
    ...fillBudgets(store),
    user: 'person-1',
    share: store.shareOf(page),
  };
}

/** Questions with the longest answers, and insights with long texts. */
function fillQuestions(store: LargeStore) {
  const { id: session, seq: session_seq } = store.session();
  const { seq: run_seq } = store.run(session_seq);
  const place = { session_seq, run_seq, user_seq: store.owned.user_seq };
  const ids = Array.from({ length: 600 }, () => randomUUID());
  const times = { created_at: 1, expires_at: Date.now() + 86_400_000 };
  const asked = { tool_name: 'ask_user', tool_input: JSON.stringify({ question: 'ö"'.repeat(1_000) }) };
  store.rows('user_inputs', 600, (no) => ({
    id: ids[no],
    tool_use_id: `t${no}`,
    ...place,
    ...asked,
    ...times,
    ...(no < 500
      ? {
          status: 'answered',
          answers: JSON.stringify('ö"'.repeat(15e3)),
          answered_at: 2,
        }
      : { status: 'pending' }),
  }));
  const insight = randomUUID();
  store.rows('insights', 600, (no) => ({
    id: no === 0 ? insight : randomUUID(),
    tool_use_id: `t${no}`,
    ...place,
    title: 'ö'.repeat(200),
    summary: 'ö"'.repeat(1e3),
    priority: 'low',
    status: 'new',
    created_at: 1,
    updated_at: 1,
  }));
  return { asked: session, question: ids[599]!, insight };
}

/** As many webhooks as the installation may have, and deliveries with long bodies. */
function fillWebhooks(store: LargeStore) {
  const address = { url: `http://127.0.0.1:9/${'x'.repeat(2_000)}`, events: JSON.stringify(WEBHOOK_EVENT_TYPES) };
  const rules = { timeout_ms: 100, retry_count: 0, retry_backoff_ms: 100, enabled: 0 };
  const made = { created_at: Date.now(), updated_at: Date.now() };
  const hooks = store.rows('webhooks', 150, (no) => ({ name: `Hook ${no}`, ...address, ...rules, ...made }));
  const end = { is_test: 0, state: 'failed', attempts_left: 0, ended_at: Date.now(), last_error: 'x'.repeat(500) };
  const [delivery] = store.rows('webhook_deliveries', 5_000, (no) => ({
    webhook_id: hooks[0]!,
    owner: 0,
    event_id: randomUUID(),
    event_type: 'message.delivered',
    ...end,
    body: JSON.stringify({ text: 'ö"'.repeat(no === 0 ? 5e5 : 500) }),
    created_at: Date.now() - no,
  }));
  return { hook: String(hooks[0]!), delivery: String(delivery) };
}

/** As many scheduled tasks as one may have, each with the longest prompt, and firings of one. */
function fillTasks(store: LargeStore) {
  const id = randomUUID();
  const rules = { cron: '0 0 1 1 *', timezone: 'Europe/Zurich', target: 'free', enabled: 0, overlap: 'skip' };
  const times = { counted_at: 1, created_at: 1, updated_at: 1 };
  const tasks = store.rows('scheduled_tasks', 200, (no) => ({
    id: no === 0 ? id : randomUUID(),
    user_seq: store.owned.user_seq,
    name: `Task ${no}`,
    ...rules,
    ...times,
  }));
  store.rows('task_plans', 200, (no) => ({ task_seq: tasks[no]!, prompt: 'ö"'.repeat(50_000), steps: '[]' }));
  const { seq: session_seq } = store.session();
  store.rows('firings', 2_000, (no) => ({
    task_seq: tasks[0]!,
    session_seq,
    trigger: 'clock',
    due_at: no,
    status: 'completed',
    step_no: 1,
    step_count: 1,
    created_at: 1,
    ended_at: 2,
  }));
  return { task: id };
}

/** A run with a long journal of long texts. */
function fillEvents(store: LargeStore) {
  const { id: session, seq: session_seq } = store.session();
  const { id: runId, seq: run_seq } = store.run(session_seq);
  const delta = JSON.stringify({ index: 0, text: 'ö"'.repeat(2_000) });
  const typeOf = (no: number) => (no === 0 ? 'content_block_start' : 'content_block_delta');
  store.rows('events', 2_000, (no) => ({
    session_seq,
    run_seq,
    stream_seq: no + 1,
    type: typeOf(no),
    payload: delta,
    created_at: Date.now(),
  }));
  const [end] = [JSON.stringify({ status: 'completed' })];
  store.rows('events', 1, () => ({
    session_seq,
    run_seq,
    stream_seq: 2001,
    type: 'run.done',
    payload: end,
    created_at: Date.now(),
  }));
  return { streamed: session, runOfStream: runId };
}

/** Budgets of many users, and an audit log. */
function fillBudgets(store: LargeStore) {
  const rules = { unit: 'usd', period: 'day', timezone: 'Europe/Zurich', amount: 5, created_at: 1, updated_at: 1 };
  const [id, teamId] = [randomUUID(), randomUUID()];
  store.rows('budgets', 1_000, (no) => ({
    id: no === 0 ? id : randomUUID(),
    subject: 'user',
    user_seq: store.owned.user_seq + no + 1,
    ...rules,
  }));
  store.rows('teams', 1_000, (no) => ({
    id: no === 0 ? teamId : randomUUID(),
    name: `Team ${no}`,
    created_at: 1,
    updated_at: 1,
  }));
  return { budget: id, teamName: 'Team 1', first: '1', team: teamId };
}
