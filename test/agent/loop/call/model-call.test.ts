// One call of a model: what of its reply is sent on, when, and in which blocks.
import { expect, test } from 'vitest';
import { callModel, CallStopped, type ModelCall } from '../../../../src/agent/loop/call/model-call.ts';
import type { ModelEvent, TakeEvent } from '../../../../src/agent/models/event.ts';
import { type Halt, makeHalt } from '../../../../src/domain/halt.ts';
import { GRANT, LIMITS } from '../../play-main.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Calls a model that replies as `play` does. `written`: the pieces of text, and `|` for the end of a block. */
async function callWith(play: (take: TakeEvent, signal: AbortSignal) => Promise<void>, halt: Halt = makeHalt()) {
  const written: string[] = [];
  const call: ModelCall = {
    brief: { model: GRANT, limits: LIMITS, compaction: null },
    model: { ask: (_prompt, { take, halt: ends }) => play(take, ends.signal) },
    instructions: '',
    messages: [],
    tools: [],
    blocks: { write: (text) => written.push(text), close: () => written.at(-1) !== '|' && written.push('|') },
    usedIds: new Set(),
    halt,
    waits: () => undefined,
  };
  return { end: await callModel(call), written };
}

test('text that is still gathered is sent on before its block ends', async () => {
  const { end, written } = await callWith(async (take) => {
    for (const text of ['a', 'b', 'c']) {
      take({ type: 'text', text });
      await turn();
    }
    take({ type: 'block-end' });
    take({ type: 'text', text: 'd' });
    take({ type: 'call-start', call: 0, id: 'one', name: 'echo' });
    take({ type: 'text', text: 'e' });
    take({ type: 'finish', ending: 'tool-calls' });
  });
  expect(written.join('')).toBe('abc|d|e|');
  expect(written[0]).toBe('a');
  expect(end).toMatchObject({ ok: true, reply: { text: 'abcde', calls: [{ id: 'one', name: 'echo', input: {} }] } });
});

test('text that is still gathered is sent on when the reply fails, which counts as streamed', async () => {
  const { end, written } = await callWith(async (take) => {
    for (const text of ['a', 'b']) {
      take({ type: 'text', text });
      await turn();
    }
    throw new Error('broken');
  });
  expect(written).toEqual(['a', 'b', '|']);
  expect(end).toMatchObject({ ok: false, streamed: true });
});

test('a reply that only thought before it failed has streamed nothing', async () => {
  const { end } = await callWith(async (take) => {
    take({ type: 'thinking', text: 'Hm.' });
    throw new Error('broken');
  });
  expect(end).toMatchObject({ ok: false, streamed: false });
});

test('a reply without an end is a failure, whatever it has', async () => {
  const { end } = await callWith(async (take) => take({ type: 'text', text: 'a' }));
  expect(end).toMatchObject({ ok: false, failure: { error: { message: expect.stringContaining('broke off') } } });
});

const EVENTS: readonly [ModelEvent, boolean][] = [
  [{ type: 'text', text: 'a' }, true],
  [{ type: 'thinking', text: 'Hm.' }, true],
  [{ type: 'proof', proof: { data: 'xyz' } }, true],
  [{ type: 'call-start', call: 0, id: 'one', name: 'echo' }, true],
  [{ type: 'block-end' }, false],
  [{ type: 'usage', usage: { inputTokens: 7 } }, false],
];
test.each(EVENTS)('%j is a token: %s', async (event, isToken) => {
  const { end } = await callWith(async (take) => take(event));
  expect(end.pace.firstTokenMs !== null).toBe(isToken);
});

test('half of a character at the end of a text is replaced', async () => {
  const { end, written } = await callWith(async (take) => {
    take({ type: 'text', text: 'a\uD83C' });
    take({ type: 'finish', ending: 'length' });
  });
  expect(end).toMatchObject({ ok: true, reply: { text: 'a\uFFFD' } });
  expect(written.join('')).toBe('a\uD83C|');
});

test('a call whose run was stopped rejects with the reason of the stop, and what it has used', async () => {
  const stop = makeHalt();
  const called = callWith(async (take, signal) => {
    take({ type: 'text', text: 'a' });
    stop.halt();
    signal.throwIfAborted();
  }, stop);
  const stopped = await called.then(
    () => null,
    (error: unknown) => error,
  );
  expect(stopped).toBeInstanceOf(CallStopped);
  expect(stopped).toMatchObject({
    cause: { name: 'AbortError' },
    used: { estimated: true, usage: { outputTokens: 1 } },
  });
});
