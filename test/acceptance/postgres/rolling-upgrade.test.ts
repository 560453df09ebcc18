// A rolling upgrade of three real daemons under load: one after another is drained, stopped, and started again as a newer version.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { VERSION } from '../../../src/version.ts';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import { type DaemonProcess, runErrand } from '../../support/daemon/daemon-process.ts';
import { startInstallation } from '../../support/daemon/installation.ts';
import { makeNewerProgram, NEWER_VERSION } from '../../support/daemon/newer-program.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
  model.script(({ userText }) => ({ text: [`Reply to ${userText}:`, ...WORDS], deltaMs: 50 }));
});
afterAll(() => model.close());

const WORDS = Array.from({ length: 20 }, (_, at) => ` ${at}`);
const replyTo = (words: string) => `Reply to ${words}:${WORDS.join('')}`;

const errand = (node: DaemonProcess, ...args: readonly string[]) => runErrand([...args, '--data-dir', node.dataDir]);
const nodesOf = async (node: DaemonProcess) =>
  ((await node.admin('GET', '/api/v1/nodes')) as { items: NodeWire[] }).items;
/** A connection that is kept would be to the process before. */
const headers = { connection: 'close' };
const isReady = async ({ url }: DaemonProcess) =>
  fetch(`${url}/readyz`, { headers }).then(
    ({ status }) => status === 200,
    () => false,
  );

interface Taken {
  readonly runId: string;
  readonly text: string;
}

/** Users who take one turn after another in a session of their own, each at the next node that is ready, as a balancer would send it. */
function load(nodes: readonly DaemonProcess[], users: number) {
  let [isOver, asked] = [false, 0];
  /** Turns that a node has, or is about to get since it was ready. */
  const sent = new Map(nodes.map((node) => [node, 0]));
  const count = (node: DaemonProcess, by: 1 | -1) => void sent.set(node, sent.get(node)! + by);
  /** Takes a turn at the next one that is ready. */
  const takeNext = async (request: Parameters<typeof takeTurn>[1]): ReturnType<typeof takeTurn> => {
    for (;;) {
      const node = nodes[(asked += 1) % nodes.length]!;
      count(node, 1);
      try {
        if (await isReady(node)) return await takeTurn(node, { ...request, headers });
      } finally {
        count(node, -1);
      }
      await pause(20);
    }
  };
  const work = async (user: number): Promise<readonly Taken[]> => {
    const taken: Taken[] = [];
    for (let sessionId: string | null = null; !isOver; ) {
      const content = `${user}/${taken.length}`;
      const turn = await takeNext({ content, sessionId, stream: user % 2 === 0 });
      expect(turn).toMatchObject({ status: 200, error: null, text: replyTo(content) });
      sessionId = turn.sessionId;
      taken.push({ runId: turn.runId!, text: turn.text });
    }
    return taken;
  };
  const all = Promise.all(Array.from({ length: users }, async (_, user) => work(user)));
  // Its failure is seen at its end.
  all.catch(() => undefined);
  return {
    /** Whether a node has no request in progress, so that it may be stopped. */
    isFree: (node: DaemonProcess): boolean => sent.get(node) === 0,
    end: async () => {
      isOver = true;
      return (await all).flat();
    },
  };
}

test('three daemons are upgraded one after another under load: no turn fails, or is begun twice, and versions may differ meanwhile', {
  tags: ['L6', 'L8'],
  timeout: 400_000,
}, async () => {
  const errandYaml = 'public_url: https://errand.example\nworkers: { threads: 1, runs_per_thread: 4 }\n';
  const { nodes } = await startInstallation(3, { modelServerUrl: model.url, errandYaml }, { onTestFinished });
  const program = makeNewerProgram({ onTestFinished });
  const { isFree, end } = load(nodes, 6);
  const versions: string[][] = [];
  for (const [at, name] of ['north', 'south', 'east'].entries()) {
    const [node, other] = [nodes[at]!, nodes[(at + 1) % nodes.length]!];
    expect((await errand(other, 'nodes', 'drain', name, '--wait')).stdout).toMatch(/^state\tdrained$/m);
    await waitFor(() => isFree(node));
    await node.stop();
    await node.restart({ program });
    await errand(node, 'nodes', 'undrain', name);
    await waitFor(async () => isReady(node));
    versions.push((await nodesOf(other)).map(({ version }) => version).toSorted());
    if (at === 0) expect((await errand(other, 'nodes', 'list')).stderr).toMatch(/have different versions: .*99\.0\.0/);
  }
  const taken = await end();
  expect(versions).toEqual([
    [VERSION, VERSION, NEWER_VERSION],
    [VERSION, NEWER_VERSION, NEWER_VERSION],
    [NEWER_VERSION, NEWER_VERSION, NEWER_VERSION],
  ]);
  expect(taken.length).toBeGreaterThan(10);
  const runs: { readonly status: string; readonly resumes: number }[] = [];
  // One by one: on a slow machine they are more than one address may have connections.
  for (const { runId } of taken)
    runs.push((await nodes[0]!.admin('GET', `/api/v1/runs/${runId}`)) as (typeof runs)[number]);
  expect(runs.filter(({ status, resumes }) => status !== 'completed' || resumes > 0)).toEqual([]);
  expect(await nodesOf(nodes[0]!)).toMatchObject(
    ['east', 'north', 'south'].map((name) => ({ name, state: 'online', draining: false, differs: [] })),
  );
  const { stdout } = await errand(nodes[0]!, 'doctor', '-o', 'json').catch((failed: { stdout: string }) => failed);
  const { checks } = JSON.parse(stdout) as { checks: { id: string; evidence: string }[] };
  expect(checks.find(({ id }) => id === 'database')!.evidence).toContain(`version ${SCHEMA_VERSION + 1}`);
});
