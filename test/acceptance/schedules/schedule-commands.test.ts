// The commands of scheduled tasks against the real daemon, and what its webhooks deliver of each run.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type HookReceiver, startHookReceiver } from '../../support/http/hook-receiver.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import type { FiringWire, ScheduledTaskWire } from '../../../src/wire/schedules/scheduled-task.ts';
import type { EventBody } from '../../../src/wire/webhooks/event-bodies.ts';
import { EVENT_BODIES } from '../../../src/wire/webhooks/event-bodies.ts';

type Move = EventBody<'scheduled_task.run_status_changed'>;

const PASSWORD = 'a password of some length';
const HANGS = '[[deltas=4]] [[hang=mid-stream after=2]]';

let model: ModelServer;
let daemon: DaemonProcess;
let receiver: HookReceiver;
/** Of the tasks of this test. */
let count = 0;

beforeAll(async () => {
  model = await startModelServer();
  model.script(replyFromDirectives);
  receiver = await startHookReceiver();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: `egress: { allow: [{ cidr: 127.0.0.1/32, ports: [${receiver.port}], for: [webhook] }] }\n`,
  });
  for (const username of ['mara', 'otto']) {
    await daemon.admin('POST', '/api/v1/users', { username });
    await daemon.admin('PUT', `/api/v1/users/${username}/password`, { password: PASSWORD });
  }
  const events = ['scheduled_task.run_status_changed', 'session.completed', 'session.failed', 'session.stopped'];
  const hook = { name: 'clock', url: `${receiver.url}/hook`, events, owner_scope: 'system' };
  await daemon.admin('POST', '/api/v1/webhooks', hook);
});
afterAll(async () => {
  await daemon.close();
  await receiver.off();
  await model.close();
});
beforeEach(() => void (count += 1));

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

const failing = (...args: readonly string[]): Promise<{ code: number; stderr: string }> =>
  runErrand([...args, '--data-dir', daemon.dataDir]).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => ({ code: error.code, stderr: error.stderr }),
  );

/** Creates a task of mara's that doesn't fire during the test. */
async function create(...work: readonly string[]): Promise<ScheduledTaskWire> {
  const name = `task-${count}`;
  const when = ['--user', 'mara', '--cron', '0 0 29 2 *', '--timezone', 'Europe/Zurich'];
  return errand('schedules', 'create', name, ...when, ...work);
}

const run = (task: string) => errand<FiringWire>('schedules', 'run', task);
const firingsOf = async (task: string) => (await errand<{ items: FiringWire[] }>('schedules', 'firings', task)).items;

/** Each once, however often it was delivered. */
const bodies = () =>
  [...new Map(receiver.received.map(({ eventId, body }) => [eventId, body])).values()].map(
    (body) => JSON.parse(body.toString()) as Move,
  );
const movesOf = ({ session_id: id }: FiringWire) =>
  bodies()
    .filter(({ event_type: type }) => type === 'scheduled_task.run_status_changed')
    .filter(({ run: moved }) => moved.session_id === id);
/** The moves of each run of a firing, in words, once there are so many; deliveries keep no order. */
async function movesWhen(firing: FiringWire, total: number): Promise<string[]> {
  const moves = await waitFor(() => (movesOf(firing).length >= total ? movesOf(firing) : undefined));
  for (const move of moves) expect(EVENT_BODIES['scheduled_task.run_status_changed'].read(move, '')).toEqual(move);
  const runs = [...new Set(moves.map(({ run: { run_id: id } }) => id))].sort();
  const order = ['null', 'pending', 'running'];
  const words = moves.map(({ run: moved }) => ({
    no: runs.indexOf(moved.run_id) + 1,
    at: order.indexOf(String(moved.previous_status)),
    text: `${moved.previous_status} → ${moved.status}`,
  }));
  return words.sort((a, b) => a.no - b.no || a.at - b.at).map(({ no, text }) => `${no}: ${text}`);
}

test('a task is created, fired on request, and delivers each move of each step', async () => {
  const task = await create(
    '--prompt',
    'About the tides.',
    '--step',
    'Collect. [[text=3.4 m]]',
    '--step',
    'Write. [[text=Done.]]',
  );
  expect(task).toMatchObject({ enabled: true, owner: { username: 'mara' }, overlap: 'skip', last_fired_at: null });
  const next = await errand<{ next_fires_at: string[] }>('schedules', 'next', task.name);
  expect(next.next_fires_at).toEqual(task.next_fires_at);
  expect(next.next_fires_at).toHaveLength(5);
  expect(next.next_fires_at.every((at) => /^\d{4}-02-28T23:00:00.000Z$/.test(at))).toBe(true);

  const firing = await run(task.name);
  expect(firing).toMatchObject({ trigger: 'manual', scheduled_task_id: task.scheduled_task_id, step_count: 2 });
  expect(await movesWhen(firing, 6)).toEqual([
    '1: null → pending',
    '1: pending → running',
    '1: running → completed',
    '2: null → pending',
    '2: pending → running',
    '2: running → completed',
  ]);
  const [move] = movesOf(firing);
  expect(move).toMatchObject({
    user: { username: 'mara' },
    scheduled_task: {
      scheduled_task_id: task.scheduled_task_id,
      name: task.name,
      cron: '0 0 29 2 *',
      timezone: 'Europe/Zurich',
    },
    session: { session_id: firing.session_id, kind: 'scheduled', title: task.name },
    meta: { source: 'scheduled_task', trigger: 'run_status_changed' },
  });
  const ends = await waitFor(() => {
    const own = bodies().filter(({ event_type: type, session }) => {
      return (type as string) === 'session.completed' && session.session_id === firing.session_id;
    });
    return own.length === 2 ? own : undefined;
  });
  for (const { run: ended } of ends) {
    expect(ended).toMatchObject({ scheduled_task_id: task.scheduled_task_id, schedule_mode: 'scheduled' });
  }
  expect(await firingsOf(task.name)).toEqual([
    { ...firing, status: 'completed', step_no: 2, ended_at: expect.stringMatching(/Z$/) },
  ]);
  expect(await errand('schedules', 'show', task.name)).toMatchObject({ last_status: 'completed' });
  const asked = model.requests
    .map(({ body }) => JSON.stringify(body))
    .filter((text) => text.includes('About the tides.'));
  expect(asked[0]).toContain('About the tides.\\n\\nCollect.');
});

test('a step that fails ends the firing, and its event says why', async () => {
  const task = await create('--step', 'Collect [[fail=400]]', '--step', 'Write');
  const firing = await run(task.name);
  expect(await movesWhen(firing, 3)).toEqual(['1: null → pending', '1: pending → running', '1: running → failed']);
  const failed = movesOf(firing).find(({ run: { status } }) => status === 'failed');
  expect(failed?.run.last_error).toMatch(/./);
  expect(await firingsOf(task.name)).toMatchObject([{ status: 'failed', step_no: 1, step_count: 2 }]);
  // The next firing is not kept out by it.
  await run(task.name);
});

test('an earlier firing keeps others out, or lets them wait; what waits is dropped with the task, what runs is not', async () => {
  const task = await create('--prompt', `Look ${HANGS}`);
  const first = await run(task.name);
  await waitFor(() => movesOf(first).some(({ run: { status } }) => status === 'running'));
  expect(await failing('schedules', 'run', task.name)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('An earlier firing of the task has not ended.'),
  });
  await errand('schedules', 'set', task.name, '--overlap', 'queue');
  const second = await run(task.name);
  expect(await movesWhen(second, 1)).toEqual(['1: null → pending']);
  expect(await errand('schedules', 'disable', task.name)).toMatchObject({ enabled: false, next_fires_at: [] });
  expect(await movesWhen(second, 2)).toEqual(['1: null → pending', '1: pending → stopped']);
  expect(await firingsOf(task.name)).toMatchObject([
    { id: second.id, status: 'stopped' },
    { id: first.id, status: 'running' },
  ]);
  await errand('sessions', 'stop', first.session_id);
  expect(await movesWhen(first, 3)).toEqual(['1: null → pending', '1: pending → running', '1: running → stopped']);
  expect(await firingsOf(task.name)).toMatchObject([{ status: 'stopped' }, { status: 'stopped' }]);

  expect(await errand('schedules', 'enable', task.name)).toMatchObject({
    enabled: true,
    next_fires_at: task.next_fires_at,
  });
  expect(await errand('schedules', 'delete', task.name, '--yes')).toEqual({
    scheduled_task_id: task.scheduled_task_id,
  });
  expect(await failing('schedules', 'show', task.name)).toMatchObject({ code: 5 });
  expect(await failing('schedules', 'run', task.scheduled_task_id)).toMatchObject({ code: 5 });
  expect(await errand('sessions', 'show', first.session_id)).toMatchObject({ kind: 'scheduled' });
});

test.each([
  ['seconds', ['--cron', '0 30 8 * * *'], 'cron: '],
  ['February 31', ['--cron', '0 0 31 2 *'], 'cron: '],
  ['minute 61', ['--cron', '61 * * * *'], 'cron: '],
  ['a nickname', ['--cron', '@hourly'], 'cron: '],
  ['no zone', ['--daily', '08:30', '--timezone', 'Mars/Olympus'], 'timezone: '],
  ['an offset', ['--daily', '08:30', '--timezone', '+02:00'], 'timezone: '],
  ['nobody', ['--daily', '08:30', '--target', 'expert:nobody'], 'target: '],
  ['seven minutes', ['--every', '7m'], 'It must divide the hour or the day'],
])('%s is a usage error that names the field', async (_name, flags, words) => {
  const ended = await failing('schedules', 'create', 'odd', '--user', 'mara', '--prompt', 'x', ...flags);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
});

test('a user has tasks of their own with their login token, and reaches nobody else’s', {
  tags: ['I5-endpoints'],
}, async () => {
  const body = JSON.stringify({ grant_type: 'password', username: 'otto', password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const grant = await fetch(`${daemon.url}/openapi/v1/auth/token`, { method: 'POST', headers, body });
  const { access_token: token } = (await grant.json()) as { access_token: string };
  const tokenFile = path.join(temporaryDirectory(), 'token');
  writeFileSync(tokenFile, token);
  const flags = ['--url', daemon.url, '--token-file', tokenFile, '-o', 'json'];
  const asOtto = (...args: readonly string[]) =>
    runErrand([...args, ...flags]).then(({ stdout }) => JSON.parse(stdout) as unknown);
  const refused = (...args: readonly string[]) =>
    runErrand([...args, ...flags]).catch(({ code }: { code: number }) => code);

  const maras = await create('--prompt', 'Look');
  const task = await asOtto(
    'schedules',
    'create',
    'own',
    '--prompt',
    'Look [[text=Seen.]]',
    '--every',
    '12h',
    '--disabled',
  );
  expect(task).toMatchObject({ owner: { username: 'otto' }, cron: '0 */12 * * *', timezone: 'UTC', next_fires_at: [] });
  expect(await asOtto('schedules', 'list')).toEqual({ items: [task], total: 1 });
  expect(await asOtto('schedules', 'run', 'own')).toMatchObject({ status: 'pending' });
  for (const verb of ['show', 'run', 'next', 'firings', 'disable']) {
    expect([verb, await refused('schedules', verb, maras.scheduled_task_id)]).toEqual([verb, 4]);
    expect([verb, await refused('schedules', verb, '0190f6a0-0000-7000-8000-000000000000')]).toEqual([verb, 5]);
  }
  expect(await refused('schedules', 'create', 'x', '--user', 'mara', '--prompt', 'x', '--every', '1h')).toBe(4);
  expect(await refused('schedules', 'list', '--user', 'mara')).toBe(4);

  const actions = await errand<{ items: { action: string; target_id: string }[] }>('audit', 'list', '--limit', '500');
  const ofOtto = actions.items.filter(({ target_id: id }) => id === (task as ScheduledTaskWire).scheduled_task_id);
  expect(ofOtto).toEqual([]);
  const ofMara = actions.items.filter(({ target_id: id }) => id === maras.scheduled_task_id);
  expect(ofMara.map(({ action }) => action)).toEqual(['scheduled_task.create']);
});

test('no key of the owner sees the session of a task, nor its runs', { tags: ['I6'] }, async () => {
  const task = await create('--prompt', 'Look [[text=Seen.]]');
  const firing = await run(task.name);
  await movesWhen(firing, 3);
  const { run: ended } = movesOf(firing)[0]!;
  const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: 'mara', scope: 'global' })) as { key: string };
  // A turn names its session in a header.
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'errand-session-id': firing.session_id,
  };
  const ask = async (method: string, path: string, body?: object) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${daemon.url}/openapi/v1${path}`, { method, headers, ...json });
    return [method, path, response.status, await response.json()] as const;
  };
  const session = `/sessions/${firing.session_id}`;
  const message = { model: 'errand', messages: [{ role: 'user', content: 'Hi' }] };
  const refused = await Promise.all([
    ask('GET', `${session}/messages`),
    ask('GET', `${session}/artifacts`),
    ask('GET', `${session}/capability-config`),
    ask('GET', `${session}/user-inputs`),
    ask('POST', `${session}/stop`),
    ask('DELETE', session),
    ask('POST', '/messages', message),
    ask('GET', `/runs/${ended.run_id}`),
    ask('GET', `/runs/${ended.run_id}/stream`),
    ask('GET', `/runs/${ended.run_id}/artifacts`),
  ]);
  expect(refused.map(([method, path, status]) => `${status} ${method} ${path}`)).toEqual(
    refused.map(([method, path]) => `404 ${method} ${path}`),
  );
  expect((await ask('GET', '/sessions'))[3]).toMatchObject({ items: [], total: 0 });
  expect(await errand('sessions', 'show', firing.session_id)).toMatchObject({ status: 'completed' });
});
