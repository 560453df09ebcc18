// What is done once for all nodes, by real daemons: whichever node makes the work, and across the loss of the one that leads.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import type { FiringWire } from '../../../src/wire/schedules/scheduled-task.ts';
import { type DaemonProcess, runErrand } from '../../support/daemon/daemon-process.ts';
import { startInstallation } from '../../support/daemon/installation.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type HookReceiver, startHookReceiver } from '../../support/http/hook-receiver.ts';
import type { FaultyS3 } from '../../support/s3/faulty-s3.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let [north, south, receiver, s3]: [DaemonProcess, DaemonProcess, HookReceiver, FaultyS3] = [] as never;
const closers: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  receiver = await startHookReceiver();
  const of = { onTestFinished: (close: () => void | Promise<void>) => void closers.push(close) };
  const errandYaml = 'egress: { allow: [{ cidr: 127.0.0.1/32, for: [webhook] }] }\n';
  const { nodes, s3: bucket } = await startInstallation(2, { errandYaml }, of);
  s3 = bucket;
  [north, south] = nodes as [DaemonProcess, DaemonProcess];
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await receiver.off();
});

/** A webhook that is made at a node, and what it has received. */
async function hookAt(daemon: DaemonProcess, path: string, events: readonly string[]) {
  const hook = { name: path, url: `${receiver.url}${path}`, events, owner_scope: 'system', retry_backoff_ms: 100 };
  await daemon.admin('POST', '/api/v1/webhooks', hook);
  return () => receiver.received.filter((one) => one.path === path);
}

const bodyOf = ({ body }: { readonly body: Buffer }) =>
  JSON.parse(body.toString()) as { session: { session_id: string }; summary: { has_artifacts: boolean } };

test('a webhook that is made at one node reports a run of it once, with its files; another one publishes them', {
  tags: ['§6.5-has_artifacts', 'L7'],
}, async () => {
  const received = await hookAt(south, '/south', ['session.completed']);
  const { sessionId } = await takeTurn(south, { content: 'write site/index.html: <h1>Ebb</h1>' });
  const [first] = await waitFor(() => received().length > 0 && received());
  expect(bodyOf(first!)).toMatchObject({ session: { session_id: sessionId }, summary: { has_artifacts: true } });
  const page = { name: 'Ebb', session_id: sessionId, entry_path: '/site/index.html' };
  const { latest_share_code: code } = (await north.admin('POST', '/api/v1/publishes', page)) as {
    latest_share_code: string;
  };
  for (const { url } of [north, south]) {
    const content = await fetch(`${url}/api/v1/public/shares/${code}/content`);
    expect([content.status, await content.text()]).toEqual([200, expect.stringContaining('<h1>Ebb</h1>')]);
  }
  expect(received()).toHaveLength(1);
});

test('what only the node that leads knows is refused by the other one, which names it', { tags: ['L7'] }, async () => {
  const leader = /by the node that leads: north \(127\.0\.0\.1:\d+\)\. Ask that one\./;
  await expect(runErrand(['gc', '--data-dir', south.dataDir])).rejects.toThrow(leader);
  await expect(south.admin('GET', '/api/v1/backups/latest')).rejects.toThrow(leader);
  await runErrand(['gc', '--data-dir', north.dataDir]);
});

const lists = () => s3.asked.filter(({ url }) => url.includes('list-type=2')).length;

test('only the node that leads lists the bucket when it starts', { tags: ['L7'] }, async () => {
  // Whether it is empty, and what no row knows.
  await waitFor(() => lists() === 2);
  await south.restart();
  await takeTurn(south, { content: 'Hi' });
  expect(lists()).toBe(2);
});

test('a task that is made at one node fires once for each time, across the loss of the node that leads', {
  timeout: 400_000,
  tags: ['I1-firings', 'L7'],
}, async () => {
  const received = await hookAt(south, '/firings', ['scheduled_task.run_status_changed']);
  await runErrand([
    'schedules',
    'create',
    'tides',
    '--user',
    'admin',
    '--every',
    '1m',
    '--step',
    'Hi',
    '--data-dir',
    south.dataDir,
  ]);
  const { items: tasks } = (await south.admin('GET', '/api/v1/scheduled-tasks')) as {
    items: { scheduled_task_id: string }[];
  };
  const path = `/api/v1/scheduled-tasks/${tasks[0]!.scheduled_task_id}/firings`;
  const firings = async () => ((await south.admin('GET', path)) as { items: FiringWire[] }).items;
  const nextMinute = { timeoutMs: 150_000, everyMs: 100 };
  const before = await waitFor(async () => {
    const all = await firings();
    return all.length > 0 && all;
  }, nextMinute);
  await north.kill();
  await waitFor(() => lists() === 3);
  await waitFor(async () => {
    const { items } = (await south.admin('GET', '/api/v1/nodes')) as { items: NodeWire[] };
    return items.some(({ name, leader }) => name === 'south' && leader);
  });
  const after = await waitFor(async () => {
    const all = await firings();
    return all.length > before.length && all;
  }, nextMinute);
  expect(new Set(after.map(({ due_at: dueAt }) => dueAt)).size).toBe(after.length);
  const sessionIds = new Set(after.map(({ session_id: id }) => id));
  await waitFor(() => {
    const reported = new Set(received().map((one) => bodyOf(one).session.session_id));
    return [...sessionIds].every((id) => id !== null && reported.has(id));
  });
});
