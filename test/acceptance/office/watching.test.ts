// Administrators watch a session while the daemon is killed under them: each sees every event once, and in order.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { readSse } from '../../support/http/sse.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let daemon: DaemonProcess;
let model: ModelServer;
/** Resolves when a model that hangs may go on. */
let told: PromiseWithResolvers<void>;

beforeEach(() => {
  told = Promise.withResolvers<void>();
});
beforeAll(async () => {
  model = await startModelServer();
  model.script((question) => ({ ...replyFromDirectives(question), until: told.promise }));
  const errandYaml =
    'workers: { threads: 1, runs_per_thread: 2 }\nstreams: { heartbeat_seconds: 1, drain_seconds: 0 }\n';
  daemon = await startDaemonProcess({ modelServerUrl: model.url, errandYaml });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const OFFICE = '/api/v1/office-mode';

/** Sends a turn and leaves; answers its run and its session. */
async function begin(text: string, sessionId?: string) {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: text }],
      ...(sessionId !== undefined && { metadata: { session_id: sessionId } }),
    }),
  });
  expect(response.status).toBe(200);
  await response.body!.cancel();
  return { runId: response.headers.get('x-run-id')!, sessionId: response.headers.get('x-session-id')! };
}

const TEXT = 'content_block_delta';

interface Item {
  readonly id: number;
  readonly type: string;
  readonly run_id: string | null;
  readonly stream_seq: number | null;
}

interface Watched {
  readonly seen: Item[];
  connections: number;
  resets: number;
}

const nothingYet = (): Watched => ({ seen: [], connections: 0, resets: 0 });

/** Watches until an event is the last one, across as many connections as it takes, and counts and collects in `watched`. */
async function watch(path: string, isLast: (item: Item) => boolean, watched = nothingYet()): Promise<Watched> {
  const { seen } = watched;
  while (!seen.some(isLast)) {
    const last = seen.at(-1)?.id;
    try {
      const response = await fetch(`${daemon.url}${path}`, {
        headers: {
          authorization: `Bearer ${daemon.apiKey}`,
          ...(last !== undefined && { 'last-event-id': String(last) }),
        },
      });
      watched.connections += 1;
      for await (const { event, data } of readSse(response.body!)) {
        if (event === 'reset') watched.resets += 1;
        else if (data !== null) seen.push(JSON.parse(data) as Item);
        if (seen.some(isLast)) break;
      }
    } catch {
      // The daemon is down.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return watched;
}

const itemsOf = async (path: string): Promise<readonly Item[]> =>
  ((await daemon.admin('GET', path)) as { items: readonly Item[] }).items;

/** The attempts of a run that have written text: each begins after the resume of the one before. */
async function attemptsThatWrote(session: string, runId: string): Promise<number> {
  const own = (await itemsOf(`${session}/stream-events`)).filter(({ run_id: id }) => id === runId);
  const resumes = own.flatMap(({ type }, at) => (type === 'run.resumed' ? [at] : []));
  const attempts = [0, ...resumes].map((from, at) => own.slice(from, resumes[at]));
  return attempts.filter((events) => events.some(({ type }) => type === TEXT)).length;
}

test('watchers of a session and of a run miss nothing and see nothing twice across kill -9', {
  tags: ['§4.8-streams', '§4.8-refill'],
}, async () => {
  const first = await begin('Hello. [[text=Hi.]]');
  const { sessionId } = first;
  const session = `${OFFICE}/sessions/${sessionId}`;
  await waitFor(async () => (await itemsOf(`${session}/stream-events`)).some(({ type }) => type === 'run.done'));
  const ofSystem = nothingYet();
  const isLast = ({ type, run_id: id }: Item) => type === 'run.done' && id === runId;
  let runId = '';
  const fixture = watch(`${OFFICE}/stream`, isLast, ofSystem);
  await waitFor(async () => {
    await begin('Hello. [[text=Hi.]]');
    return ofSystem.seen.length > 0;
  });
  ({ runId } = await begin('Tell it slowly. [[deltas=60 every=50 hang=mid-stream after=40]]', sessionId));
  const paths = [`${session}/stream?replay=true`, `${session}/run-events/stream?run_id=${runId}&after_id=1`];
  const watched = Array.from({ length: 30 }, nothingYet);
  const watchers = watched.map((one, at) => watch(paths[at % 2]!, isLast, one));
  for (let kills = 0; kills < 2; kills += 1) {
    await waitFor(async () => (await attemptsThatWrote(session, runId)) > kills);
    await waitFor(() => watched.every(({ connections }) => connections > kills));
    await daemon.kill();
    await daemon.restart();
  }
  told.resolve();
  await Promise.all(watchers);
  const all = await itemsOf(`${session}/stream-events`);
  const own = all.filter(({ run_id: id }) => id === runId);
  const upToEnd = (items: readonly Item[]) => items.slice(0, items.findIndex(isLast) + 1);
  for (const [at, { seen, connections }] of watched.entries()) {
    expect(seen).toEqual(upToEnd(at % 2 === 0 ? all : own));
    expect(connections).toBeGreaterThanOrEqual(3);
  }
  const sequence = own.flatMap(({ stream_seq: seq }) => seq ?? []);
  expect(sequence).toEqual(sequence.map((_, at) => at + 1));
  expect(own.filter(({ type }) => type === 'run.resumed')).toHaveLength(2);
  // The feed of the installation keeps no past events across a restart: it sends a reset, and continues.
  const { seen, resets } = await fixture;
  expect(resets).toBeGreaterThanOrEqual(1);
  expect(seen.map(({ id }) => id)).toEqual([...new Set(seen.map(({ id }) => id))].sort((a, b) => a - b));
});

test('a daemon that stops ends the streams, and watchers come back to the next', { tags: ['G16'] }, async () => {
  const { sessionId, runId } = await begin('Tell it slowly. [[deltas=60 every=50 hang=mid-stream after=40]]');
  const session = `${OFFICE}/sessions/${sessionId}`;
  const isLast = ({ type }: Item) => type === 'run.done';
  const watched = nothingYet();
  const watcher = watch(`${session}/stream?replay=true`, isLast, watched);
  await waitFor(async () => watched.connections === 1 && (await attemptsThatWrote(session, runId)) === 1);
  expect(await daemon.stop()).toMatchObject({ code: 0 });
  await daemon.restart();
  told.resolve();
  const { seen, connections } = await watcher;
  expect(connections).toBeGreaterThanOrEqual(2);
  const all = await itemsOf(`${session}/stream-events`);
  expect(seen).toEqual(all.slice(0, all.findIndex(isLast) + 1));
});
