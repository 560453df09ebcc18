// A time line with every kind of span, for the tests of those who show it.
import { explain, type Explanation } from '../../../src/operations/turns/explain.ts';
import type { CallTiming } from '../../../src/domain/sessions/call-timing.ts';
import type { ModelSpan, Span, SpanFacts } from '../../../src/domain/sessions/timeline/timeline.ts';
import type { RunRecord } from '../../../src/store/runs/run-records.ts';

const AT = Date.parse('2026-03-01T12:00:00.000Z');
const ID = '0190f6a0-0000-7000-8000-000000000002';
const USAGE = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };

const TIMING: CallTiming = {
  tries: 1,
  commitWaitMs: 0,
  budgetWaitMs: 0,
  permitWaitMs: 0,
  retryWaitMs: 0,
  firstTokenMs: 400,
  durationMs: 1_000,
};

const MODEL: ModelSpan = {
  kind: 'model',
  purpose: 'reply',
  step: 1,
  agent: null,
  model: 'qwen',
  ok: true,
  usage: USAGE,
  estimated: false,
  costUsd: 0.01,
  timing: TIMING,
  firstTextMs: null,
};

/** A span of seconds since the run was accepted; null: it is open. */
export function aSpan(facts: SpanFacts, from: number, to: number | null, parent: number | null = null): Span {
  return { ...facts, startedAt: AT + from * 1_000, endedAt: to === null ? null : AT + to * 1_000, parent };
}

export const aCall = (over: Partial<ModelSpan> = {}): ModelSpan => ({ ...MODEL, ...over });
export const aTiming = (over: Partial<CallTiming>): CallTiming => ({ ...TIMING, ...over });

/** 41 seconds in the queue, a step whose first token took 12.3 s, with a sub-agent; a question, and more. */
export const SPANS: readonly Span[] = [
  aSpan({ kind: 'queue', waitedFor: 'slots', slots: 8 }, 0, 41),
  aSpan({ kind: 'prepare', attempt: 1 }, 41, 42),
  aSpan({ kind: 'compaction', step: 0, characters: 9_000 }, 42, 43),
  aSpan(aCall({ purpose: 'summary', step: null, timing: null }), 42, 43, 2),
  aSpan(aCall({ timing: aTiming({ firstTokenMs: 12_300, durationMs: 15_000, tries: 3, retryWaitMs: 4_000 }) }), 43, 62),
  aSpan({ kind: 'tool', step: 1, toolUseId: 'd', name: 'delegate', agent: 'reader', ok: true }, 62, 74),
  aSpan(aCall({ purpose: 'agent', step: null, agent: 'reader' }), 63, 64, 5),
  aSpan({ kind: 'question', requestId: ID, outcome: 'answered' }, 74, 134),
  aSpan({ kind: 'interruption', resumes: 1 }, 134, 135),
  aSpan(aCall({ step: 2, ok: false, usage: null, costUsd: null }), 135, 136),
  aSpan({ kind: 'tool', step: 2, toolUseId: 's', name: 'shell', agent: null, ok: false }, 136, 137),
  aSpan({ kind: 'finish' }, 137, 138),
  aSpan({ kind: 'collection', ok: true }, 138, 139),
  aSpan({ kind: 'export', ok: false }, 138, 140),
];

const RUN: RunRecord = {
  seq: 1,
  id: ID,
  sessionSeq: 1,
  sessionId: ID,
  userSeq: 1,
  keySeq: 1,
  protocol: 'messages',
  status: 'failed',
  scheduleMode: 'immediate',
  attempt: 2,
  resumes: 1,
  requestedModel: 'errand',
  model: 'qwen',
  includeUsage: false,
  usage: USAGE,
  costUsd: 0.04,
  stopReason: null,
  error: { type: 'api_error', message: 'No.', retryable: true },
  answer: null,
  wantsStructured: false,
  resultInContent: false,
  resultTool: null,
  response: null,
  structuredOutput: null,
  backgroundPayload: null,
  createdAt: AT,
  startedAt: AT + 41_000,
  finishedAt: AT + 138_000,
  userId: ID,
  title: 'Tell me of tides.',
  username: 'mara',
  keyId: 'key00001',
};

/** The explanation of a run with these spans, some minutes later. */
export function anExplanation(spans: readonly Span[] = SPANS, run: Partial<RunRecord> = {}): Explanation {
  const facts = { ...RUN, ...run };
  return explain(facts, { run: facts, spans, detail: 'complete', truncated: false }, AT + 300_000);
}
