// The structured result in the store: a schema with its run, a `null` that is a result, and no success without one.
import { expect, test } from 'vitest';
import { aStep, fenceOf, FREE, storeHouse } from '../support/store/store-house.ts';

const SCHEMA = { type: ['integer', 'null'] };
const ANSWERED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

test('a claim hands out the schema that the turn came with', async () => {
  const house = await storeHouse();
  await house.accept({ outputSchema: SCHEMA });
  await house.accept();
  expect((await house.claim(2)).map(({ outputSchema }) => outputSchema)).toEqual([SCHEMA, null]);
});

test.each([null, 0, false, '', [], 7])(
  'the result %j is kept as it is, in the row and in the journal',
  async (value) => {
    const house = await storeHouse();
    const accepted = await house.accept({ outputSchema: SCHEMA });
    expect(accepted).toMatchObject({ wantsStructured: true, structuredOutput: null });
    const [run] = await house.claim();
    await house.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value } });
    await house.store.runs.settle(fenceOf(run!));
    expect(await house.store.runs.get(run!.seq)).toMatchObject({
      status: 'completed',
      wantsStructured: true,
      structuredOutput: { value },
    });
    const message = house.committed.find(({ type }) => type === 'message');
    expect(message?.payload).toHaveProperty('structuredOutput', value);
  },
);

test('the result of a chat run is reported once, before the end of its text', async () => {
  const house = await storeHouse();
  await house.accept({ outputSchema: SCHEMA, resultInContent: true, protocol: 'chat' });
  const [run] = await house.claim();
  await house.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value: 7 } });
  await house.store.runs.settle(fenceOf(run!));
  expect(house.committed.slice(-4)).toMatchObject([
    { type: 'run.result', payload: { structuredOutput: 7 } },
    { type: 'run.finalizing' },
    { type: 'message', payload: { messageId: expect.any(Number) } },
    { type: 'run.done' },
  ]);
  expect(house.committed.at(-2)?.payload).not.toHaveProperty('structuredOutput');
});

test('the result that is the content of a Messages reply is a block of its own, before the end of the text', async () => {
  const house = await storeHouse();
  await house.accept({ outputSchema: SCHEMA, resultInContent: true });
  const [run] = await house.claim();
  await house.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value: null } });
  await house.store.runs.settle(fenceOf(run!));
  expect(house.committed.slice(-6)).toMatchObject([
    { type: 'result_block_start' },
    { type: 'run.result', payload: { structuredOutput: null } },
    { type: 'result_block_stop' },
    { type: 'run.finalizing' },
    { type: 'message', payload: { messageId: expect.any(Number) } },
    { type: 'run.done' },
  ]);
  expect(house.committed.at(-2)?.payload).not.toHaveProperty('structuredOutput');
  expect(await house.store.runs.get(run!.seq)).toMatchObject({
    resultInContent: true,
    structuredOutput: { value: null },
  });
});

test('a run without a schema has no result, in the row and in the journal', async () => {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  await house.store.runs.finalize(fenceOf(run!), ANSWERED);
  await house.store.runs.settle(fenceOf(run!));
  expect(await house.store.runs.get(run!.seq)).toMatchObject({ wantsStructured: false, structuredOutput: null });
  expect(house.committed.find(({ type }) => type === 'message')?.payload).not.toHaveProperty('structuredOutput');
});

test('the file itself refuses a success without the requested result', { tags: ['§3.1-incomplete'] }, async () => {
  const house = await storeHouse();
  await house.accept({ outputSchema: SCHEMA });
  const [run] = await house.claim();
  await expect(house.store.runs.finalize(fenceOf(run!), ANSWERED)).rejects.toThrow(/constraint/i);
  expect(await house.store.runs.get(run!.seq)).toMatchObject({ status: 'running' });
});

test('an incomplete run says why, keeps what was said, and its message holds no result', {
  tags: ['§3.1-incomplete'],
}, async () => {
  const house = await storeHouse();
  await house.accept({ outputSchema: SCHEMA });
  const [run] = await house.claim();
  const error = { type: 'structured_output_error', message: 'No result.', retryable: true } as const;
  await house.store.runs.recordStep(fenceOf(run!), aStep(), FREE);
  await house.store.runs.finalize(fenceOf(run!), { outcome: 'incomplete', error });
  await house.store.runs.settle(fenceOf(run!));
  expect(await house.store.runs.get(run!.seq)).toMatchObject({ status: 'incomplete', error, structuredOutput: null });
  expect(house.committed.slice(-2)).toMatchObject([
    { type: 'message' },
    { type: 'run.failed', payload: { status: 'incomplete', error } },
  ]);
  expect(house.committed.at(-2)?.payload).not.toHaveProperty('structuredOutput');
});

test('a crash between the end of the agent and the settling keeps the result', async () => {
  const house = await storeHouse();
  await house.accept({ outputSchema: SCHEMA });
  const [run] = await house.claim();
  await house.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value: null } });
  expect(await house.store.runs.rescue()).toMatchObject({ settled: 1 });
  expect(await house.store.runs.get(run!.seq)).toMatchObject({ structuredOutput: { value: null } });
});
