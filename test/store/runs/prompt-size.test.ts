// The prompt size at the start of a stream: the best estimate when the turn was accepted, which never changes.
import { expect, test } from 'vitest';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const ENDED = { outcome: 'completed', answer: 'Six.', stopReason: 'end_turn' } as const;
const content = [{ type: 'text', text: 'x'.repeat(300) }] as const;

/** The estimate of each accepted run, in order. */
const promptTokens = (fixture: StoreFixture) =>
  fixture.committed.flatMap((event) => (event.type === 'run.queued' ? [event.payload.promptTokens] : []));

/** Executes the last accepted run, with steps of this many tokens. */
async function work(fixture: StoreFixture, steps: readonly { input: number; output: number }[]): Promise<void> {
  const [run] = await fixture.claim();
  for (const [index, { input, output }] of steps.entries()) {
    const usage = { inputTokens: input, outputTokens: output, cacheReadTokens: 0, cacheWriteTokens: 0 };
    await fixture.store.runs.recordStep(fenceOf(run!), aStep({ step: index + 1, usage }), FREE);
  }
  await fixture.store.runs.finalize(fenceOf(run!), ENDED);
  await fixture.store.runs.settle(fenceOf(run!), { untouched: true });
}

test('before anything is known it is an estimate of the words', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ content });
  expect(promptTokens(fixture)).toEqual([100]);
});

test('a continued session sends what its last step contained, and the new text', async () => {
  const fixture = await storeFixture();
  const { sessionId } = await fixture.accept({ content });
  await work(fixture, [
    { input: 2_000, output: 30 },
    { input: 2_100, output: 50 },
  ]);
  await fixture.accept({ content, sessionId });
  expect(promptTokens(fixture)).toEqual([100, 2_250]);
});

test("a new session begins with about what the key's newest one began with", async () => {
  const fixture = await storeFixture();
  const { sessionId } = await fixture.accept({ content });
  await work(fixture, [
    { input: 2_000, output: 30 },
    { input: 9_000, output: 30 },
  ]);
  await fixture.accept({ sessionId });
  await work(fixture, [{ input: 9_100, output: 30 }]);
  await fixture.accept({ content });
  await fixture.accept({ content, key: await fixture.makeKey() });
  expect(promptTokens(fixture).slice(2)).toEqual([2_000, 100]);
});

test('a chat run, whose stream reports none, has none', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ content, protocol: 'chat' });
  expect(promptTokens(fixture)).toEqual([undefined]);
});
