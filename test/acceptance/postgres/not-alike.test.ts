// Daemons that don't fit into an installation: with the id of another one, with another master key, with another clock. What runs there goes on.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import {
  type DaemonOptions,
  type DaemonProcess,
  runErrand,
  startDaemonProcess,
} from '../../support/daemon/daemon-process.ts';
import { databaseOf } from '../../support/daemon/initialized.ts';
import { type Installation, startInstallation } from '../../support/daemon/installation.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const SHIFTED = fileURLToPath(new URL('../../support/daemon/earlier-clock.mjs', import.meta.url));
const WORDS = Array.from({ length: 400 }, (_, at) => `${at} `);

/** The model goes on with what it is held in the middle of. */
let goesOn = Promise.withResolvers<void>();
let model: ModelServer;
let installation: Installation;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(() => model.close());
beforeEach(async () => {
  goesOn = Promise.withResolvers();
  model.script(({ userText }) => {
    const paced = { text: WORDS, deltaMs: 50 };
    if (userText === 'long') return paced;
    if (userText === 'held') return { ...paced, hang: 'mid-stream', afterDeltas: 20, until: goesOn.promise };
    return { text: `Plain: ${userText}` };
  });
  const settings = { modelServerUrl: model.url, errandYaml: 'public_url: https://errand.example\n' };
  installation = await startInstallation(1, settings, { onTestFinished });
});
const north = () => installation.nodes[0]!;

/** Starts one, which may be refused: with what. */
async function start(options: DaemonOptions): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(options);
  onTestFinished(() => daemon.close());
  return daemon;
}
const refusal = (options: DaemonOptions) => start(options).then(() => 'none', String);

const hints = async ({ dataDir }: DaemonProcess) => (await runErrand(['nodes', 'list', '--data-dir', dataDir])).stderr;
const nodesOf = async (daemon: DaemonProcess) =>
  ((await daemon.admin('GET', '/api/v1/nodes')) as { items: NodeWire[] }).items;
const runOf = async (daemon: DaemonProcess, id: string) =>
  (await daemon.admin('GET', `/api/v1/runs/${id}`)) as { status: string; resumes: number; created_at: string };
const background = { content: 'held', body: { background: true, idempotency_key: 'one' } };

test('a copy of the data directory of a daemon that runs, and one with another master key, are refused; a run goes on meanwhile', {
  tags: ['L6'],
}, async () => {
  const reading = readTurn(await openTurn(north(), { stream: true, content: 'long' }));
  expect(await refusal({ copies: north() })).toMatch(
    /Another process that runs has the id of this node, [-\da-f]+: north, which listens on 127\.0\.0\.1:\d+\. .* remove .*node-id there/,
  );
  expect(await hints(north())).toContain('Another process has the id of north: a copy of its data directory');
  const dataDir = temporaryDirectory();
  writeFileSync(join(dataDir, 'master.key'), randomBytes(32), { mode: 0o600 });
  const errandYaml = readFileSync(join(north().configDir, 'errand.yaml'), 'utf8');
  const database = databaseOf(north().dataDir);
  expect(await refusal({ joins: { ...north(), dataDir }, errandYaml, database })).toMatch(
    /master\.key is another master key than the one that .* is used with/,
  );
  expect((await reading).text).toBe(WORDS.join(''));
  // Its place is given back behind its end.
  await waitFor(async () => (await nodesOf(north()))[0]!.running === 0);
  expect(await nodesOf(north())).toMatchObject([{ name: 'north', state: 'online' }]);
});

test('a copy takes the place of a daemon that has stood still, with its run; that one writes nothing more, and ends', {
  tags: ['L4', 'L6'],
}, async () => {
  const { runId } = await takeTurn(north(), background);
  await waitFor(async () => (await runOf(north(), runId!)).status === 'running');
  process.kill(north().pid(), 'SIGSTOP');
  goesOn.resolve();
  const copy = await start({ copies: north() });
  await waitFor(async () => (await runOf(copy, runId!)).status === 'completed');
  process.kill(north().pid(), 'SIGCONT');
  expect(await north().exited()).toMatchObject({ code: 1 });
  expect(await runOf(copy, runId!)).toMatchObject({ status: 'completed', resumes: 1 });
  expect(await takeTurn(copy, { content: 'next' })).toMatchObject({ text: 'Plain: next' });
  expect(await nodesOf(copy)).toMatchObject([{ name: 'north', state: 'online', leader: true, this: true }]);
});

test('a daemon whose clock is five seconds ahead is named, and its turns are in the order of all', {
  tags: ['L6'],
}, async () => {
  const south = await installation.add();
  const env = { NODE_OPTIONS: `--import ${SHIFTED}`, TEST_CLOCK_BEHIND_MS: '-5000' };
  await south.restart({ env });
  await waitFor(async () => /clock of south is [45]\.\d s ahead of the database's/.test(await hints(north())));
  let sessionId: string | null = null;
  const times: number[] = [];
  for (const [at, daemon] of [south, north(), south, north()].entries()) {
    const turn = await takeTurn(daemon, { content: `${at}`, sessionId });
    expect(turn).toMatchObject({ status: 200, text: `Plain: ${at}` });
    sessionId = turn.sessionId;
    times.push(Date.parse((await runOf(daemon, turn.runId!)).created_at));
  }
  // They have the time of the database.
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});
