// Several daemons on one database and one bucket, as one installation: any takes any request, and a lost one costs time alone.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import type { DaemonProcess } from '../../support/daemon/daemon-process.ts';
import { startInstallation } from '../../support/daemon/installation.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import { collectSse } from '../../support/http/sse.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let [model, north, south]: [ModelServer, DaemonProcess, DaemonProcess] = [] as never;
const closers: (() => void | Promise<void>)[] = [];

/** The second are enough that a run is at them when something is done to it, also on a busy machine. */
const [WORDS, ENDLESS] = [200, 20_000].map((length) => Array.from({ length }, (_, at) => `${at} `)) as [
  string[],
  string[],
];
/** The model goes on with what it is held in the middle of. */
let goesOn = Promise.withResolvers<void>();
function script({ userText }: { userText: string }): Reply {
  const paced = { text: WORDS, deltaMs: 50 };
  if (userText === 'long') return paced;
  if (userText === 'held') return { ...paced, hang: 'mid-stream', afterDeltas: 20, until: goesOn.promise };
  if (userText === 'endless') return { text: ENDLESS, deltaMs: 50 };
  return { text: `Plain: ${userText}` };
}

beforeAll(async () => {
  model = await startModelServer();
  const of = { onTestFinished: (close: () => void | Promise<void>) => void closers.push(close) };
  const errandYaml = 'workers: { threads: 1, runs_per_thread: 3 }\n';
  const { nodes } = await startInstallation(2, { modelServerUrl: model.url, errandYaml }, of);
  [north, south] = nodes as [DaemonProcess, DaemonProcess];
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await model.close();
});
beforeEach(() => {
  goesOn = Promise.withResolvers();
  model.script(script);
});

const nodesOf = async (daemon: DaemonProcess) =>
  ((await daemon.admin('GET', '/api/v1/nodes')) as { items: NodeWire[] }).items;

test('any node takes any turn of a session; the first one leads', { tags: ['L6', 'L7'] }, async () => {
  const first = await takeTurn(north, { content: 'one' });
  expect(first).toMatchObject({ status: 200, text: 'Plain: one' });
  const second = await takeTurn(south, { content: 'two', sessionId: first.sessionId });
  expect(second).toMatchObject({ status: 200, text: 'Plain: two', sessionId: first.sessionId });
  const both = await waitFor(async () => {
    const nodes = await nodesOf(north);
    return nodes.filter(({ state }) => state === 'online').length === 2 && nodes;
  });
  expect(both.map(({ name, leader }) => ({ name, leader }))).toEqual([
    { name: 'north', leader: true },
    { name: 'south', leader: false },
  ]);
});

test('a run is followed on another node than the one that executes it, and stopped from there', {
  tags: ['L4', 'L7'],
}, async () => {
  const watched = await openTurn(north, { stream: true, content: 'endless' });
  const reading = readTurn(watched);
  const sessionId = watched.headers.get('x-session-id')!;
  await waitFor(
    async () =>
      ((await south.admin('GET', `/api/v1/sessions/${sessionId}`)) as { status: string }).status === 'running',
  );
  const stop = async () =>
    (await south.admin('POST', `/api/v1/sessions/${sessionId}/stop`)) as {
      stop_state: string;
      executor_cancelled: boolean;
    };
  // On a busy machine an executor may need longer than the answer waits.
  const { stop_state, executor_cancelled } = await stop();
  expect([stop_state, executor_cancelled]).toEqual(executor_cancelled ? ['stopped', true] : ['stopping', false]);
  await waitFor(async () => (await stop()).stop_state === 'already_stopped');
  expect((await reading).text.length).toBeLessThan(ENDLESS.join('').length);
});

test('a response is followed at each node with the same numbers, and resumed at another', {
  tags: ['M3-resume', 'L7'],
}, async () => {
  const at = ({ url, apiKey }: DaemonProcess, path: string, init: RequestInit = {}) =>
    fetch(`${url}/openapi/v1/responses${path}`, {
      ...init,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    });
  const body = JSON.stringify({ model: 'm', input: 'long', background: true });
  const { id } = (await (await at(north, '', { method: 'POST', body })).json()) as { id: string };
  const follow = async (node: DaemonProcess, query = '') => {
    const events = await collectSse((await at(node, `/${id}?stream=true${query}`)).body!);
    return events.map(({ data }) => JSON.parse(data!) as { type: string; sequence_number: number });
  };
  const [here, there] = await Promise.all([follow(north), follow(south)]);
  expect(here.length).toBeGreaterThan(10);
  expect(here.at(-1)!.type).toBe('response.completed');
  expect(there).toEqual(here);
  expect(await follow(south, '&starting_after=9')).toEqual(here.slice(10));
});

/** A run that executes at north, in the background, until its model goes on. */
async function heldRun(key: string): Promise<string> {
  await south.admin('POST', '/api/v1/nodes/south/drain');
  const { runId } = await takeTurn(north, { content: 'held', body: { background: true, idempotency_key: key } });
  await waitFor(async () => (await runOf(runId!)).status === 'running');
  await south.admin('POST', '/api/v1/nodes/south/undrain');
  return runId!;
}
const runOf = async (id: string) =>
  (await south.admin('GET', `/api/v1/runs/${id}`)) as { status: string; resumes: number };
const ended = (id: string) =>
  waitFor(async () => {
    const run = await runOf(id);
    return run.status === 'completed' && run;
  });

test('the run of a node that is killed goes on at another one, which leads from then on; the node comes back', {
  tags: ['L4', 'L7'],
}, async () => {
  const id = await heldRun('killed');
  await north.kill();
  goesOn.resolve();
  expect(await ended(id)).toMatchObject({ resumes: 1 });
  await waitFor(async () => (await nodesOf(south)).some(({ name, leader }) => name === 'south' && leader));
  await north.restart();
  expect(await takeTurn(north, { content: 'back' })).toMatchObject({ text: 'Plain: back' });
});

test('a node that stood still while others took its runs writes nothing more, and ends', { tags: ['L4'] }, async () => {
  const id = await heldRun('stood still');
  process.kill(north.pid(), 'SIGSTOP');
  goesOn.resolve();
  expect(await ended(id)).toMatchObject({ resumes: 1 });
  process.kill(north.pid(), 'SIGCONT');
  expect(await north.exited()).toMatchObject({ code: 1 });
  expect(north.stderr()).toContain('took this node for lost');
  expect(await runOf(id)).toMatchObject({ status: 'completed', resumes: 1 });
  await north.restart();
  expect(await takeTurn(north, { content: 'again' })).toMatchObject({ text: 'Plain: again' });
});
