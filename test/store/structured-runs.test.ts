// The structured result in the store: a schema with its run, a `null` that is a result, and no success without one.
import { expect, test } from 'vitest';
import { onlyOnSqlite } from '../support/store/open-store.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../support/store/store-fixture.ts';

const SCHEMA = { type: ['integer', 'null'] };
const ANSWERED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

test('a claim hands out the schema that the turn came with', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ outputSchema: SCHEMA });
  await fixture.accept();
  expect((await fixture.claim(2)).map(({ outputSchema }) => outputSchema)).toEqual([SCHEMA, null]);
});

test.each([null, 0, false, '', [], 7])(
  'the result %j is kept as it is, in the row and in the journal',
  async (value) => {
    const fixture = await storeFixture();
    const accepted = await fixture.accept({ outputSchema: SCHEMA });
    expect(accepted).toMatchObject({ wantsStructured: true, structuredOutput: null });
    const [run] = await fixture.claim();
    await fixture.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value } });
    await fixture.store.runs.settle(fenceOf(run!));
    expect(await fixture.store.runs.get(run!.seq)).toMatchObject({
      status: 'completed',
      wantsStructured: true,
      structuredOutput: { value },
    });
    const message = fixture.committed.find(({ type }) => type === 'message');
    expect(message?.payload).toHaveProperty('structuredOutput', value);
  },
);

test('the result of a chat run is reported once, before the end of its text', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ outputSchema: SCHEMA, resultInContent: true, protocol: 'chat' });
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value: 7 } });
  await fixture.store.runs.settle(fenceOf(run!));
  expect(fixture.committed.slice(-4)).toMatchObject([
    { type: 'run.result', payload: { structuredOutput: 7 } },
    { type: 'run.finalizing' },
    { type: 'message', payload: { messageId: expect.any(Number) } },
    { type: 'run.done' },
  ]);
  expect(fixture.committed.at(-2)?.payload).not.toHaveProperty('structuredOutput');
});

test('the result that is the content of a Messages reply is a block of its own, before the end of the text', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ outputSchema: SCHEMA, resultInContent: true });
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value: null } });
  await fixture.store.runs.settle(fenceOf(run!));
  expect(fixture.committed.slice(-6)).toMatchObject([
    { type: 'result_block_start' },
    { type: 'run.result', payload: { structuredOutput: null } },
    { type: 'result_block_stop' },
    { type: 'run.finalizing' },
    { type: 'message', payload: { messageId: expect.any(Number) } },
    { type: 'run.done' },
  ]);
  expect(fixture.committed.at(-2)?.payload).not.toHaveProperty('structuredOutput');
  expect(await fixture.store.runs.get(run!.seq)).toMatchObject({
    resultInContent: true,
    structuredOutput: { value: null },
  });
});

test('a run without a schema has no result, in the row and in the journal', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), ANSWERED);
  await fixture.store.runs.settle(fenceOf(run!));
  expect(await fixture.store.runs.get(run!.seq)).toMatchObject({ wantsStructured: false, structuredOutput: null });
  expect(fixture.committed.find(({ type }) => type === 'message')?.payload).not.toHaveProperty('structuredOutput');
});

test('the file itself refuses a success without the requested result', {
  tags: ['§3.1-incomplete'],
  ...onlyOnSqlite('it alone checks conditions of rows'),
}, async () => {
  const fixture = await storeFixture();
  await fixture.accept({ outputSchema: SCHEMA });
  const [run] = await fixture.claim();
  await expect(fixture.store.runs.finalize(fenceOf(run!), ANSWERED)).rejects.toThrow(/constraint/i);
  expect(await fixture.store.runs.get(run!.seq)).toMatchObject({ status: 'running' });
});

test('an incomplete run says why, keeps what was said, and its message holds no result', {
  tags: ['§3.1-incomplete'],
}, async () => {
  const fixture = await storeFixture();
  await fixture.accept({ outputSchema: SCHEMA });
  const [run] = await fixture.claim();
  const error = { type: 'structured_output_error', message: 'No result.', retryable: true } as const;
  await fixture.store.runs.recordStep(fenceOf(run!), aStep(), FREE);
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'incomplete', error });
  await fixture.store.runs.settle(fenceOf(run!));
  expect(await fixture.store.runs.get(run!.seq)).toMatchObject({ status: 'incomplete', error, structuredOutput: null });
  expect(fixture.committed.slice(-2)).toMatchObject([
    { type: 'message' },
    { type: 'run.failed', payload: { status: 'incomplete', error } },
  ]);
  expect(fixture.committed.at(-2)?.payload).not.toHaveProperty('structuredOutput');
});

test('a crash between the end of the agent and the settling keeps the result', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ outputSchema: SCHEMA });
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), { ...ANSWERED, structured: { value: null } });
  expect(await fixture.store.runs.rescue('here')).toMatchObject({ settled: 1 });
  expect(await fixture.store.runs.get(run!.seq)).toMatchObject({ structuredOutput: { value: null } });
});
