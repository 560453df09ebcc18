// What the calls of a run do to its workspace: which of them touch it, and when it is at rest.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { keptFileIn } from '../../../src/agent/loop/kept-output.ts';
import { performCall } from '../../../src/agent/loop/perform-call.ts';
import { openWorkspace } from '../../../src/agent/loop/run-workspace.ts';
import { openChannel } from '../../../src/agent/port/signals.ts';
import { TOOLS } from '../../../src/agent/tools/all-tools.ts';
import type { ExecutedTool } from '../../../src/agent/port/tool.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { makeBrief, makeRun, makeTools } from '../play-main.ts';
import { aloneOn } from '../run-port.ts';

const call = { id: 'a', name: 'echo', input: { text: 'x' } };

async function aRun() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  return makeRun(await makeBrief(), openChannel(aloneOn(port2)));
}

test('a stopped run is at rest only once the tool that it left behind has ended', async () => {
  const run = await aRun();
  const { promise, resolve } = Promise.withResolvers<{ ok: boolean; output: string }>();
  const begun = Promise.withResolvers<void>();
  const deaf: ExecutedTool = {
    ...makeTools().echo,
    execute: () => {
      begun.resolve();
      return promise;
    },
  };
  const performed = performCall(run, { tools: [deaf], call, fault: undefined });
  await begun.promise;
  run.channel.stop({ kind: 'canceled', reason: 'stop' });
  await expect(performed).rejects.toThrow('aborted');
  let ended = false;
  const rest = run.workspace.atRest().then(() => {
    ended = true;
  });
  await new Promise((next) => setImmediate(next));
  expect(ended).toBe(false);
  resolve({ ok: true, output: '' });
  await rest;
});

test('a run whose tools have all ended, or that never used one, is at rest', async () => {
  const run = await aRun();
  await run.workspace.atRest();
  expect(run.workspace.isUntouched()).toBe(true);
  await performCall(run, { tools: [makeTools().echo], call, fault: undefined });
  await run.workspace.atRest();
  expect(run.workspace.isUntouched()).toBe(false);
});

test('tools that only read neither make the workspace nor touch it: a missing one is as an empty one', async () => {
  const run = await aRun();
  const { workspace } = run.brief;
  rmSync(workspace, { recursive: true });
  const perform = async (name: string, input: JsonObject) =>
    (await performCall(run, { tools: TOOLS, call: { id: 'a', name, input }, fault: undefined })).output;
  const readings = [
    await perform('list_files', {}),
    await perform('list_files', { path: 'in/side' }),
    await perform('read_file', { path: 'in/side' }),
    await perform('search_files', { pattern: 'x' }),
    await perform('search_files', { pattern: 'x', path: 'a.txt' }),
  ];
  expect(existsSync(workspace)).toBe(false);
  mkdirSync(workspace);
  expect(readings).toEqual([
    await perform('list_files', {}),
    await perform('list_files', { path: 'in/side' }),
    await perform('read_file', { path: 'in/side' }),
    await perform('search_files', { pattern: 'x' }),
    await perform('search_files', { pattern: 'x', path: 'a.txt' }),
  ]);
  expect(run.workspace.isUntouched()).toBe(true);
  await perform('write_file', { path: 'a.txt', content: 'x' });
  expect(run.workspace.isUntouched()).toBe(false);
});

test('a long output is stored in a workspace that is made for it, which is not touched by that', async () => {
  const run = await aRun();
  const { workspace } = run.brief;
  rmSync(workspace, { recursive: true });
  const long: ExecutedTool = {
    ...makeTools().echo,
    readsOnly: true,
    execute: async () => ({ ok: true, output: 'x'.repeat(40_000) }),
  };
  const { output } = await performCall(run, { tools: [long], call, fault: undefined });
  expect(readFileSync(join(workspace, keptFileIn(output)!), 'utf8')).toHaveLength(40_000);
  expect(run.workspace.isUntouched()).toBe(true);
});

test.each([
  ['none', 0],
  ['first', 1],
  ['each', 2],
] as const)('of two calls that may change it, it announces %s: %i', async (announces, count) => {
  let announced = 0;
  const brief = { ...(await makeBrief()), announces };
  const workspace = openWorkspace(brief, async () => void (announced += 1));
  await workspace.prepare();
  await workspace.prepare();
  expect(announced).toBe(count);
});
