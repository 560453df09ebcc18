// Thinking that a model writes into its text, between tags.
import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../../../src/agent/models/event.ts';
import { makeReplyCollector } from '../../../../src/agent/models/reply.ts';
import { splitThinking } from '../../../../src/agent/models/reading/thinking-tags.ts';

const CALL: ModelEvent = { type: 'call-start', call: 0, id: 'c', name: 'add' };
const USAGE: ModelEvent = { type: 'usage', usage: { outputTokens: 1 } };

/** What is made of a text that comes in pieces, with other events between them. */
function partsOf(pieces: readonly (string | ModelEvent)[]): readonly object[] {
  const collector = makeReplyCollector();
  const take = splitThinking(collector.take);
  for (const piece of pieces) take(typeof piece === 'string' ? { type: 'text', text: piece } : piece);
  take({ type: 'finish', ending: 'stop' });
  return collector.reply().parts;
}

const thinking = (text: string) => ({ type: 'thinking', text });
const text = (words: string) => ({ type: 'text', text: words });

describe.each([1, 2, 3, 5, 7, 100])('in pieces of %i characters', (size) => {
  const piecesOf = (whole: string) => whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

  test.each([
    ['<think>\nIt is noon.\n</think>\n\nTwelve.', [thinking('\nIt is noon.\n'), text('Twelve.')]],
    ['\n <think>a < b</ b</think>c', [thinking('a < b</ b'), text('c')]],
    ['<think></think>\n\nAt once.', [text('At once.')]],
    ['<think>never ends </thin', [thinking('never ends </thin')]],
    ['<think>thought alone</think>\n\n', [thinking('thought alone')]],
    ['Say <think> to think</think>.', [text('Say <think> to think</think>.')]],
    ['<thinker> <think>x</think>', [text('<thinker> <think>x</think>')]],
    ['<thi', [text('<thi')]],
    ['  \n', [text('  \n')]],
  ])('%j is read', (whole, parts) => {
    expect(partsOf(piecesOf(whole))).toEqual(parts);
  });
});

test('counts between the pieces of a tag do not break it', () => {
  expect(partsOf(['<th', USAGE, 'ink>a</thi', USAGE, 'nk>b'])).toEqual([thinking('a'), text('b')]);
});

test('a call ends what was held back, and what follows it is text', () => {
  expect(partsOf(['<think>a</', CALL, '<think>b'])).toEqual([
    thinking('a</'),
    { type: 'call', id: 'c', name: 'add', json: '' },
    text('<think>b'),
  ]);
});

test('blanks without end are not held back', () => {
  const collector = makeReplyCollector();
  const take = splitThinking(collector.take);
  for (let count = 0; count < 1_000; count += 1) take({ type: 'text', text: ' ' });
  expect(collector.reply().parts).toMatchObject([{ type: 'text' }]);
});
