// What agents said: history, answers and results are read from the steps, which have the only copies.
import { expect, test } from 'vitest';
import { previewOf } from '../../../src/domain/sessions/content.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';
import { messagesOf } from '../../support/store/read-whole.ts';
import { literal, placesOf } from '../../support/store/open-store.ts';

/** Longer than a preview, which several places have. */
const WORDS = Array.from({ length: 9 }, () => 'The moon pulls the water, the sun a little too.').join(' ');
const CALL = { id: 'x', name: 'shell', input: { command: 'tide' } };
const USAGE = { inputTokens: 10, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** A run that used a tool and then answered with the words, as the worker reports it. */
async function answered() {
  const fixture = await storeFixture();
  const { sessionSeq } = await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const { runs } = fixture.store;
  await runs.recordStep(fence, aStep({ text: 'I look.', message: {}, calls: [CALL], usage: USAGE }), FREE);
  const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: 'high at six', durationMs: 1 };
  await runs.recordToolResult(fence, result);
  await runs.appendStream(fence, [{ type: 'content_block_delta', payload: { index: 1, text: WORDS } }]);
  await runs.recordStep(fence, aStep({ step: 2, text: WORDS, message: {} }), FREE);
  const settle = async (answer: string) => {
    await runs.finalize(fence, { outcome: 'completed', answer, stopReason: 'end_turn' });
    await runs.settle(fence);
  };
  return { ...fixture, sessionSeq, runSeq: run!.seq, settle };
}

test('a text of an agent is stored in its step and in the stream, and nowhere else', async () => {
  const fixture = await answered();
  await fixture.settle(WORDS);
  const holding = placesOf(fixture.file, WORDS).filter((place) => !place.endsWith('.text_preview'));
  expect(holding).toEqual(['events.payload', 'steps.text']);
});

const CONTENT = [
  { type: 'text', text: 'I look.' },
  { type: 'tool_use', id: 'x', name: 'shell', input: { command: 'tide' } },
  { type: 'tool_result', toolUseId: 'x', ok: true, output: 'high at six' },
  { type: 'text', text: WORDS },
];

test('history and answer return it in full', async () => {
  const fixture = await answered();
  await fixture.settle(WORDS);
  const { runs } = fixture.store;
  const [, reply] = await messagesOf(fixture.store, fixture.sessionSeq);
  expect(reply).toMatchObject({ role: 'assistant', content: CONTENT, textPreview: previewOf(`I look. ${WORDS}`) });
  const { id } = await runs.get(fixture.runSeq);
  const runsRead = [await runs.get(fixture.runSeq), await runs.getOutcome(fixture.runSeq), await runs.find(id)];
  expect(runsRead.map((run) => run?.answer)).toEqual(Array(3).fill(WORDS));
});

test('a text with U+0000 is shown with what is behind it, long or short', async () => {
  const fixture = await storeFixture();
  for (const text of ['\0', 'a\0b', '\0\uFDD0'.repeat(5_000), '🌊\0'.repeat(5_000)]) {
    const { sessionSeq } = await fixture.accept();
    const fence = fenceOf((await fixture.claim())[0]!);
    await fixture.store.runs.recordStep(fence, aStep({ text, message: {} }), FREE);
    const shown = async () => (await fixture.store.office.listRounds(sessionSeq, 0, 9))[0]!.assistantMessage;
    const start = Array.from(text).slice(0, 4_000).join('');
    expect(await shown()).toBe(start);
    await fixture.store.runs.finalize(fence, { outcome: 'completed', answer: text, stopReason: 'end_turn' });
    await fixture.store.runs.settle(fence);
    expect(await shown()).toBe(start);
    const [, reply] = await messagesOf(fixture.store, sessionSeq);
    expect(reply).toMatchObject({ content: [{ type: 'text', text }], textPreview: previewOf(text) });
  }
});

test.each(['', 'Another answer.'])(
  'an answer that is not the text of the last step is kept as it is: "%s"',
  async (answer) => {
    const fixture = await answered();
    await fixture.settle(answer);
    expect((await fixture.store.runs.getOutcome(fixture.runSeq)).answer).toBe(answer);
  },
);

test('a run that did not complete has no answer, and what its agent did is in the history', async () => {
  const fixture = await answered();
  await fixture.store.runs.stopSession(fixture.sessionSeq, 'user_requested_stop');
  expect((await fixture.store.runs.getOutcome(fixture.runSeq)).answer).toBeNull();
  expect((await messagesOf(fixture.store, fixture.sessionSeq))[1]).toMatchObject({ content: CONTENT });
});

test('messages and answers of an earlier Errand are returned as it stored them', async () => {
  const fixture = await answered();
  await fixture.settle(WORDS);
  const old = [{ type: 'text', text: 'As it was.' }];
  fixture.change(`UPDATE messages SET content = ${literal(JSON.stringify(old))} WHERE role = 'assistant'`);
  fixture.change("UPDATE runs SET answer = 'As it was.'");
  expect((await messagesOf(fixture.store, fixture.sessionSeq))[1]).toMatchObject({ content: old });
  expect((await fixture.store.runs.getOutcome(fixture.runSeq)).answer).toBe('As it was.');
});
