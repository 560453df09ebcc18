// The prompt size at the start of a stream: the best estimate when the turn was accepted, which never changes.
import { expect, test } from 'vitest';
import { aStep, fenceOf, FREE, type StoreHouse, storeHouse } from '../../support/store/store-house.ts';

const ENDED = { outcome: 'completed', answer: 'Six.', stopReason: 'end_turn' } as const;
const content = [{ type: 'text', text: 'x'.repeat(300) }] as const;

/** The estimate of each accepted run, in order. */
const promptTokens = (house: StoreHouse) =>
  house.committed.flatMap((event) => (event.type === 'run.queued' ? [event.payload.promptTokens] : []));

/** Executes the last accepted run, with steps of this many tokens. */
async function work(house: StoreHouse, steps: readonly { input: number; output: number }[]): Promise<void> {
  const [run] = await house.claim();
  for (const [index, { input, output }] of steps.entries()) {
    const usage = { inputTokens: input, outputTokens: output, cacheReadTokens: 0, cacheWriteTokens: 0 };
    await house.store.runs.recordStep(fenceOf(run!), aStep({ step: index + 1, usage }), FREE);
  }
  await house.store.runs.finalize(fenceOf(run!), ENDED);
  await house.store.runs.settle(fenceOf(run!), { untouched: true });
}

test('before anything is known it is an estimate of the words', async () => {
  const house = await storeHouse();
  await house.accept({ content });
  expect(promptTokens(house)).toEqual([100]);
});

test('a continued session sends what its last step contained, and the new text', async () => {
  const house = await storeHouse();
  const { sessionId } = await house.accept({ content });
  await work(house, [
    { input: 2_000, output: 30 },
    { input: 2_100, output: 50 },
  ]);
  await house.accept({ content, sessionId });
  expect(promptTokens(house)).toEqual([100, 2_250]);
});

test("a new session begins with about what the key's newest one began with", async () => {
  const house = await storeHouse();
  const { sessionId } = await house.accept({ content });
  await work(house, [
    { input: 2_000, output: 30 },
    { input: 9_000, output: 30 },
  ]);
  await house.accept({ sessionId });
  await work(house, [{ input: 9_100, output: 30 }]);
  await house.accept({ content });
  await house.accept({ content, key: await house.makeKey() });
  expect(promptTokens(house).slice(2)).toEqual([2_000, 100]);
});

test('a chat run, whose stream reports none, has none', async () => {
  const house = await storeHouse();
  await house.accept({ content, protocol: 'chat' });
  expect(promptTokens(house)).toEqual([undefined]);
});
