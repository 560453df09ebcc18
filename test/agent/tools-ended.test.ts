// A tool that ignores its signal: the call ends at once, but the run has come to rest only when the tool has.
import { expect, test } from 'vitest';
import { performCall, toolsEnded } from '../../src/agent/loop/perform-call.ts';
import type { Tool } from '../../src/agent/tools/tool.ts';
import { makeBrief, makeTools } from './play-main.ts';

test('a stopped run has come to rest when the tool that it left behind has ended, and not before', async () => {
  const brief = await makeBrief();
  const { promise, resolve } = Promise.withResolvers<{ ok: boolean; output: string }>();
  const begun = Promise.withResolvers<void>();
  const deaf: Tool = {
    ...makeTools().echo,
    execute: () => {
      begun.resolve();
      return promise;
    },
  };
  const stop = new AbortController();
  const readDocument = async () => null;
  const call = { id: 'a', name: 'echo', input: { text: 'x' } };
  const performed = performCall({ brief, tools: [deaf], call, fault: undefined, readDocument, signal: stop.signal });
  await begun.promise;
  stop.abort(new Error('stopped'));
  await expect(performed).rejects.toThrow('stopped');
  let ended = false;
  const rest = toolsEnded(brief).then(() => {
    ended = true;
  });
  await new Promise((next) => setImmediate(next));
  expect(ended).toBe(false);
  resolve({ ok: true, output: '' });
  await rest;
});

test('a run whose tools have all ended, or that never used one, is at rest', async () => {
  const brief = await makeBrief();
  await toolsEnded(brief);
  const { echo } = makeTools();
  const call = { id: 'a', name: 'echo', input: { text: 'x' } };
  const { signal } = new AbortController();
  await performCall({ brief, tools: [echo], call, fault: undefined, readDocument: async () => null, signal });
  await toolsEnded(brief);
});
