// What is kept of an ended run, to know its conversation by what its client resends.
import { expect, test } from 'vitest';
import { linkAfter, NOTHING_SAID } from '../../../src/domain/sessions/continued/history-chain.ts';
import type { NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';

const ASKED = linkAfter(NOTHING_SAID, { role: 'user', text: 'How many?' });
const block = (index: number, ...texts: readonly string[]): NewEvent[] => [
  { type: 'content_block_start', payload: { index } },
  ...texts.map((text): NewEvent => ({ type: 'content_block_delta', payload: { index, text } })),
];
const stop = (index: number): NewEvent => ({ type: 'content_block_stop', payload: { index } });

async function begun() {
  const fixture = await storeFixture();
  const { key, store } = fixture;
  await fixture.accept({ conversation: { clientName: null, isThrowAway: false, history: ASKED } });
  const [run] = await fixture.claim();
  const isFoundBy = async (text: string) => {
    const links = [linkAfter(ASKED, { role: 'assistant', text })];
    return (await store.sessions.findContinued(key.seq, null, [{ links, after: 0 }])).resent?.runSeq === run!.seq;
  };
  return { runs: store.runs, run: run!, fence: fenceOf(run!), isFoundBy };
}

test('a reply that broke off and was begun again is known as it was streamed, and as the answer alone', {
  tags: ['M1-history'],
}, async () => {
  const { runs, fence, isFoundBy } = await begun();
  await runs.appendStream(fence, block(0, 'The answer ', 'is '));
  await runs.appendStream(fence, [stop(0)]);
  await runs.discardText(fence);
  await runs.appendStream(fence, [...block(1, 'The answer is ', 'forty-two.'), stop(1)]);
  const answer = 'The answer is forty-two.';
  await runs.recordStep(fence, aStep({ text: answer, calls: [] }), FREE);
  await runs.end(fence, { outcome: 'completed', answer, stopReason: 'end_turn' });
  expect(await isFoundBy(`The answer is \n\n${answer}`)).toBe(true);
  expect(await isFoundBy(answer)).toBe(true);
  expect(await isFoundBy('The answer is')).toBe(false);
});

test('a run that was stopped while it streamed is known by what its client has of it', {
  tags: ['M1-history'],
}, async () => {
  const { runs, run, fence, isFoundBy } = await begun();
  await runs.recordStep(
    fence,
    aStep({ text: 'I look.', calls: [], stream: [...block(0, 'I ', 'look.'), stop(0)] }),
    FREE,
  );
  await runs.appendStream(fence, block(1, 'There ', 'are'));
  await runs.stopSession(run.sessionSeq, 'user_requested_stop');
  expect(await isFoundBy('I look.\n\nThere are')).toBe(true);
});

test('a stream of very many pieces is known by its replies alone', { tags: ['M1-history'] }, async () => {
  const { runs, fence, isFoundBy } = await begun();
  const pieces = Array.from({ length: 1_001 }, (_, at) => `${at} `);
  await runs.appendStream(fence, [...block(0, ...pieces), stop(0)]);
  await runs.discardText(fence);
  await runs.recordStep(fence, aStep({ text: 'Done.', calls: [], stream: [...block(1, 'Done.'), stop(1)] }), FREE);
  await runs.end(fence, { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' });
  expect(await isFoundBy('Done.')).toBe(true);
  expect(await isFoundBy(`${pieces.join('')}Done.`)).toBe(false);
});
