// What was slow is told in words, by limits that a span has to reach.
import { expect, test } from 'vitest';
import { slowPartsOf } from '../../../../src/domain/sessions/timeline/slow-spans.ts';
import { kindSumsOf, stepSumsOf } from '../../../../src/domain/sessions/timeline/sums.ts';
import type { SpanFacts } from '../../../../src/domain/sessions/timeline/timeline.ts';
import { aCall, aSpan, aTiming, SPANS } from '../../../support/store/timelines.ts';

const wordsOf = (facts: SpanFacts, seconds: number | null, now = Infinity) =>
  slowPartsOf({ spans: [aSpan(facts, 0, seconds)] }, now).map(({ words }) => words);

test('the parts are told with the longest first, each with its span', () => {
  expect(slowPartsOf({ spans: SPANS }, 0).map(({ span, words }) => [span, words])).toEqual([
    [7, 'waited 1 min for an answer of its user'],
    [0, 'waited 41 s for a worker: all 8 slots taken'],
    [4, 'step 1: the model took 12.3 s to its first token'],
    [5, 'step 1: the sub-agent reader took 12 s'],
    [4, 'step 1: 2 requests to the model failed, which took 4 s'],
    [8, 'was interrupted: 1 s passed since its last record'],
    [9, 'step 2: 1 request to the model failed, which took 1 s'],
    [11, 'took 1 s to record its end'],
  ]);
});

test.each<[string, SpanFacts, below: number, at: number]>([
  ['a wait in the queue', { kind: 'queue', waitedFor: 'worker', slots: null }, 1.999, 2],
  ['preparing', { kind: 'prepare', attempt: 1 }, 2.999, 3],
  ['a tool', { kind: 'tool', step: 1, toolUseId: 't', name: 'shell', agent: null, ok: true }, 9.999, 10],
  ['a question', { kind: 'question', requestId: '', outcome: null }, 9.999, 10],
  ['a summary', { kind: 'compaction', step: 0, characters: 1 }, 4.999, 5],
  ['a call of an earlier version', aCall({ timing: null }), 9.999, 10],
  ['the collection', { kind: 'collection', ok: true }, 9.999, 10],
])('%s is slow from its limit on', (_, facts, below, at) => {
  expect(wordsOf(facts, below)).toEqual([]);
  expect(wordsOf(facts, at)).toHaveLength(1);
});

test('waits within a model call are told apart, and how fast it wrote', () => {
  const timing = aTiming({ commitWaitMs: 1_500, permitWaitMs: 5_000, firstTokenMs: 1_000, durationMs: 26_000 });
  expect(wordsOf(aCall({ timing, step: 3 }), 31)).toEqual([
    'step 3: the model wrote for 25 s, 4.0 tokens a second',
    'step 3: waited 5 s for the endpoint, which had as many calls as it may take',
    'step 3: waited 1.5 s for its record before the call',
  ]);
});

test('a preparation that nothing followed may have been a wait for the model', () => {
  const prepare = { kind: 'prepare', attempt: 1 } as const;
  const { startedAt } = aSpan(prepare, 0, null);
  expect(wordsOf(prepare, null, startedAt + 40_000)).toEqual([
    'has prepared, or waited for the first token of the model, for 40 s',
  ]);
  expect(wordsOf(prepare, 40)).toEqual(['prepared, or waited for the first token of the model, for 40 s']);
  const followed = slowPartsOf({ spans: [aSpan(prepare, 0, 40), aSpan(aCall(), 40, 41)] }, 0);
  expect(followed.map(({ words }) => words)).toEqual(['took 40 s to prepare: its brief, workspace and tools']);
});

test('what is under way lasts until now', () => {
  const queue = { kind: 'queue', waitedFor: 'session', slots: null } as const;
  const { startedAt } = aSpan(queue, 0, null);
  expect(wordsOf(queue, null, startedAt + 9_000)).toEqual(['has waited 9 s for the earlier runs of its session']);
});

test('kinds are summed without the parts of a whole, and steps with what their sub-agents and summaries used', () => {
  const sums = Object.fromEntries(kindSumsOf({ spans: SPANS }, 0).map(({ kind, spans, ms }) => [kind, [spans, ms]]));
  expect(sums).toMatchObject({ queue: [1, 41_000], model: [2, 20_000], tool: [2, 13_000], compaction: [1, 1_000] });
  expect(stepSumsOf({ spans: SPANS }, 0)).toMatchObject([
    { step: 1, modelMs: 19_000, firstTokenMs: 12_300, toolMs: 12_000, calls: 3, inputTokens: 2_700, costUsd: 0.03 },
    { step: 2, modelMs: 1_000, tools: 1, calls: 1, inputTokens: 0, costUsd: 0 },
  ]);
});
