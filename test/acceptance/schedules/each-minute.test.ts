// A task of each minute, as its owner has it: it fires by itself, publishes what its agent has made, and delivers its webhooks;
// a crash of the daemon in between changes nothing of that.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type HookReceiver, startHookReceiver } from '../../support/http/hook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import type { FiringWire, ScheduledTaskWire } from '../../../src/wire/schedules/scheduled-task.ts';
import { EVENT_BODIES, type EventBody } from '../../../src/wire/webhooks/event-bodies.ts';

type Published = EventBody<'publish_page.published'>;
type Move = EventBody<'scheduled_task.run_status_changed'>;

/** A minute, and what a busy machine needs in addition. */
const NEXT_MINUTE = { timeoutMs: 120_000, everyMs: 100 };
const STEPS = ['--step', 'write tides.csv: height,3.4', '--step', 'write site/index.html: <h1>High water</h1>'];
const MOVES = ['null → pending', 'pending → running', 'running → completed'];

let daemon: DaemonProcess;
let receiver: HookReceiver;

beforeAll(async () => {
  receiver = await startHookReceiver();
  const egress = `egress: { allow: [{ cidr: 127.0.0.1/32, ports: [${receiver.port}], for: [webhook] }] }\n`;
  daemon = await startDaemonProcess({ errandYaml: egress });
  await daemon.admin('POST', '/api/v1/users', { username: 'mara' });
  const events = ['scheduled_task.run_status_changed', 'publish_page.published', 'publish_page.failed'];
  const hook = { name: 'clock', url: `${receiver.url}/hook`, events, user: 'mara', retry_backoff_ms: 100 };
  await daemon.admin('POST', '/api/v1/webhooks', hook);
});
afterAll(async () => {
  await daemon.close();
  await receiver.off();
});

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

const firingsOf = async (task: ScheduledTaskWire) => {
  const path = `/api/v1/scheduled-tasks/${task.scheduled_task_id}/firings`;
  return ((await daemon.admin('GET', path)) as { items: FiringWire[] }).items;
};

/** The bodies of a type, each once, however often it was delivered. */
function bodiesOf<T extends Published | Move>(type: T['event_type']): T[] {
  const own = receiver.received.filter(({ eventType }) => eventType === type);
  const once = new Map(own.map(({ eventId, body }) => [eventId, JSON.parse(body.toString()) as T]));
  return [...once.values()];
}

/** A version that was published on its own after one of the firings. */
const publishedOf = ({ session_id: id }: FiringWire) =>
  bodiesOf<Published>('publish_page.published').find(({ session }) => session.session_id === id);

/** What was delivered of each run of a firing, in order. */
function movesOf({ session_id: id }: FiringWire): string[][] {
  const moves = bodiesOf<Move>('scheduled_task.run_status_changed').filter(({ run }) => run.session_id === id);
  const runs = Map.groupBy(moves, ({ run }) => run.run_id);
  return [...runs.values()].map((own) => own.map(({ run }) => `${run.previous_status} → ${run.status}`).sort());
}

test('a task of each minute fires, publishes and delivers its webhooks, across a crash of the daemon', {
  timeout: 300_000,
  tags: ['§3.5'],
}, async () => {
  const task = await errand<ScheduledTaskWire>(
    'schedules',
    'create',
    'tides',
    '--user',
    'mara',
    '--every',
    '1m',
    ...STEPS,
  );
  const page = (await daemon.admin('POST', '/api/v1/publishes', {
    name: 'Tide tables',
    scheduled_task_id: task.scheduled_task_id,
    entry_path: '/site/index.html',
  })) as { publish_key: string };

  const first = await waitFor(async () => (await firingsOf(task)).findLast(publishedOf), NEXT_MINUTE);
  await daemon.kill();
  await daemon.restart();
  const isLater = (firing: FiringWire) => firing.due_at > first.due_at && publishedOf(firing) !== undefined;
  const second = await waitFor(async () => (await firingsOf(task)).findLast(isLater), NEXT_MINUTE);
  await errand('schedules', 'disable', 'tides');

  for (const [no, firing] of [first, second].entries()) {
    expect(firing).toMatchObject({ trigger: 'clock', due_at: expect.stringMatching(/:00\.000Z$/) });
    await waitFor(() => movesOf(firing).flat().length === 2 * MOVES.length);
    expect(movesOf(firing)).toEqual([MOVES, MOVES]);
    const body = publishedOf(firing)!;
    expect(EVENT_BODIES['publish_page.published'].read(body, '')).toEqual(body);
    expect(body).toMatchObject({
      user: { username: 'mara' },
      publish_page: { publish_key: page.publish_key, source_type: 'scheduled_task' },
      version: { version_no: no + 1, trigger_type: 'auto', published_url: `/share/p/${page.publish_key}` },
      session: { kind: 'scheduled', title: 'tides' },
    });
    const { share_code: code } = body.version;
    const content = await fetch(`${daemon.url}/api/v1/public/shares/${code}/content`);
    expect([content.status, await content.text()]).toEqual([200, expect.stringContaining('<h1>High water</h1>')]);
  }
  const firings = await firingsOf(task);
  expect(new Set(firings.map(({ due_at: dueAt }) => dueAt)).size).toBe(firings.length);
  expect(receiver.received.filter(({ eventType }) => eventType === 'publish_page.failed')).toEqual([]);
});
