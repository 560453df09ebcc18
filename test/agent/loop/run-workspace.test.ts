// A tool that ignores its signal: the call ends at once, but the run has come to rest only when the tool has.
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { performCall } from '../../../src/agent/loop/perform-call.ts';
import { openChannel } from '../../../src/agent/port/signals.ts';
import type { ExecutedTool } from '../../../src/agent/tools/tool.ts';
import { makeBrief, makeRun, makeTools } from '../play-main.ts';

const call = { id: 'a', name: 'echo', input: { text: 'x' } };

async function aRun() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  return makeRun(await makeBrief(), openChannel(port2));
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
  expect(run.workspace.isTouched()).toBe(false);
  await performCall(run, { tools: [makeTools().echo], call, fault: undefined });
  await run.workspace.atRest();
  expect(run.workspace.isTouched()).toBe(true);
});
