// A node through the real daemon: drained during runs and questions, killed and started again, and what operators are shown.
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { changeRows } from '../../support/store/open-store.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;

const SOUTH = '0198c0de-0000-7000-8000-0000000000ff';
const WORDS = ['long ', 'enough'];
/** Ends the long run. */
const over = Promise.withResolvers<void>();

function script({ userText, step }: { userText: string; step: number }): Reply {
  if (userText === 'long') return { text: WORDS, hang: 'mid-stream', until: over.promise };
  if (userText !== 'ask' || step > 0) return { text: `Plain: ${userText}` };
  return { text: 'Let me ask. ', tools: [{ name: 'ask_user', input: { question: 'Which colour?' } }] };
}

beforeAll(async () => {
  model = await startModelServer();
  const errandYaml = 'node: { name: north, labels: [zone=a] }\nworkers: { threads: 1, runs_per_thread: 3 }\n';
  daemon = await startDaemonProcess({ modelServerUrl: model.url, errandYaml });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script(script));

const errand = (...args: string[]) => runErrand([...args, '--data-dir', daemon.dataDir]);
const node = async () => (await daemon.admin('GET', '/api/v1/nodes/north')) as NodeWire;
const runStatus = async (id: string | null) =>
  ((await daemon.admin('GET', `/api/v1/runs/${id}`)) as { status: string }).status;
const ready = async () => fetch(`${daemon.url}/readyz`);
const background = (key: string) => ({ body: { background: true, idempotency_key: key }, content: 'quick' });

test('a node that drains lets its runs and streams end, starts nothing, and goes on replying; killed, it drains again', {
  tags: ['L6', 'L8'],
}, async () => {
  expect(await node()).toMatchObject({ state: 'online', this: true, slots: 3, labels: ['zone=a'], twice: false });
  const asking = await openTurn(daemon, { stream: true, content: 'ask' });
  const question = await waitFor(async () => {
    const { items } = (await daemon.admin('GET', '/api/v1/user-inputs?status=pending')) as {
      items: { request_id: string }[];
    };
    return items[0];
  });
  const kept = await takeTurn(daemon, background('kept'));
  await waitFor(async () => (await runStatus(kept.runId)) === 'completed');
  const long = await openTurn(daemon, { stream: true, content: 'long' });
  await waitFor(async () => (await runStatus(long.headers.get('x-run-id'))) === 'running');
  await waitFor(async () => (await node()).running > 0);

  const drain = errand('nodes', 'drain', 'north', '--wait');
  await waitFor(async () => (await ready()).status === 503);
  const refused = await takeTurn(daemon, { content: 'quick', stream: true });
  expect(refused).toMatchObject({
    status: 503,
    error: { type: 'api_error', message: expect.stringContaining('drains') },
  });
  expect(refused.headers.get('retry-after')).toBe('5');
  const inBackground = await takeTurn(daemon, background('new'));
  expect([inBackground.status, inBackground.headers.get('retry-after')]).toEqual([503, '5']);
  // Whoever repeats a request finds its run.
  expect(await takeTurn(daemon, background('kept'))).toMatchObject({ status: 202, runId: kept.runId });
  over.resolve();
  expect((await readTurn(long)).text).toBe(WORDS.join(''));
  expect((await drain).stdout).toMatch(/^state\tdrained$/m);

  // What is answered waits in the queue.
  await daemon.admin('POST', `/api/v1/user-inputs/${question.request_id}/answer`, { answers: 'green' });
  const queue = (await daemon.admin('GET', '/api/v1/queue')) as { claiming: boolean; items: object[] };
  expect(queue).toMatchObject({ claiming: false, items: [{ reason: 'not_claiming' }] });

  await daemon.kill();
  asking.body?.cancel().catch(() => undefined);
  await daemon.restart();
  expect(await node()).toMatchObject({ state: 'drained', draining: true });
  const reply = await ready();
  expect([reply.status, await reply.text()]).toEqual([503, expect.stringContaining('errand nodes undrain north')]);
  // Who upgrades a node that drains waits for no more than that.
  expect((await errand('status', '--wait', '--timeout', '60s')).stdout).toContain('part_node\tfailed');
  await expect(errand('nodes', 'remove', 'north', '--yes')).rejects.toMatchObject({ code: 6 });

  await errand('nodes', 'undrain', 'north');
  expect((await ready()).status).toBe(200);
  await waitFor(async () => (await runStatus(asking.headers.get('x-run-id'))) === 'completed');
  expect(await takeTurn(daemon, { content: 'quick' })).toMatchObject({ status: 200, text: 'Plain: quick' });
});

test('nodes are found by name and by the start of their id, and drains are in the audit log', async () => {
  // A run takes its slot for a moment longer than its reply.
  const { id } = await waitFor(async () => {
    const now = await node();
    return now.running === 0 && now;
  });
  expect((await errand('nodes', 'show', id.slice(0, 13))).stdout).toContain(`id\t${id}\n`);
  await expect(errand('nodes', 'drain', 'south')).rejects.toMatchObject({ code: 5 });
  const { stdout } = await errand('nodes', 'list');
  expect(stdout.split('\t').slice(0, 6)).toEqual(['north', id, 'online', 'yes', '3', '0']);
  expect(JSON.parse((await errand('nodes', 'list', '-o', 'json')).stdout)).toMatchObject({ total: 1, items: [{ id }] });
  const { stdout: status } = await errand('status');
  expect(status).toContain(`node\tnorth\nnode_id\t${id}\n`);
  const { items } = (await daemon.admin('GET', '/api/v1/audit?limit=500')) as { items: Record<string, unknown>[] };
  const actions = items.filter(({ target_id: target }) => target === id).map(({ action }) => action);
  expect(actions).toEqual(['node.undrain', 'node.drain']);
});

test('the row of a node that died is offline, is removed, and takes no part in what the others may do', async () => {
  changeRows(
    join(daemon.dataDir, 'errand.db'),
    `INSERT INTO worker_nodes (id, process, place, name, version, address, slots, labels, running, draining, noticed, beats, contests,
       last_beat_at, registered_at)
     VALUES ('${SOUTH}', 'dead', 'south', 'south', '0.1.0', '192.0.2.7:8484', 8, '[]', 3, 1, 1, 9, 0, 0, 0)`,
  );
  const { stdout } = await errand('nodes', 'list');
  expect(stdout.split('\n')[1]!.split('\t').slice(0, 6)).toEqual(['south', SOUTH, 'offline', '', '8', '0']);
  expect(await takeTurn(daemon, { content: 'quick' })).toMatchObject({ status: 200 });
  const status = (await daemon.admin('GET', '/api/v1/status')) as { nodes: { name: string; online: boolean }[] };
  expect(status.nodes.map(({ name, online }) => [name, online])).toEqual([
    ['north', true],
    ['south', false],
  ]);
  expect((await errand('nodes', 'remove', 'south', '--yes')).stdout).toBe(`id\t${SOUTH}\n`);
  await expect(errand('nodes', 'show', 'south')).rejects.toMatchObject({ code: 5 });
});

test('a data directory keeps its id over restarts', async () => {
  const { id } = await node();
  await daemon.restart();
  expect(await node()).toMatchObject({ id, state: 'online' });
});
