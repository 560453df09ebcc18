// What made a run slow, by fixed limits, in words for its operator. The words have no content of the conversation.
import { spokenMs } from '../../figures.ts';
import type { CallTiming } from '../call-timing.ts';
import { lengthOf, type ModelSpan, type Span, type Timeline } from './timeline.ts';

/** A wait that was longer than its limit. */
export interface SlowPart {
  /** Index of the span. */
  readonly span: number;
  readonly ms: number;
  readonly words: string;
}

/** The limits, in milliseconds. An interruption and a failed try are always told. */
export const SLOW_MS = {
  queue: 2_000,
  prepare: 3_000,
  commitWait: 1_000,
  budgetWait: 2_000,
  permitWait: 2_000,
  firstToken: 5_000,
  writing: 20_000,
  /** Of a call whose parts are not known. */
  call: 10_000,
  tool: 10_000,
  question: 10_000,
  compaction: 5_000,
  finish: 1_000,
  aftermath: 10_000,
} as const;

const MOST = 10;

interface Said {
  readonly ms: number;
  readonly words: string;
}

/** What was slow, the longest first and ten at most. Open spans last until now. */
export function slowPartsOf({ spans }: Pick<Timeline, 'spans'>, now: number): SlowPart[] {
  const found = spans.flatMap((span, index) => {
    const ms = lengthOf(span, now);
    const said = isUnsure(spans, index)
      ? whenOver(SLOW_MS.prepare, ms, unsureWords(span, ms))
      : (FINDERS[span.kind] as (span: Span, ms: number) => readonly Said[])(span, ms);
    return said.map((one) => ({ span: index, ...one }));
  });
  return found.sort((a, b) => b.ms - a.ms).slice(0, MOST);
}

const OF_THE_AGENT: ReadonlySet<Span['kind']> = new Set(['model', 'tool', 'compaction', 'question', 'finish']);

/** A preparation that nothing followed: before the first text it can't be seen whether the model has been asked. */
function isUnsure(spans: readonly Span[], index: number): boolean {
  return spans[index]!.kind === 'prepare' && !spans.slice(index + 1).some(({ kind }) => OF_THE_AGENT.has(kind));
}

function unsureWords({ endedAt }: Span, ms: number): string {
  const said = endedAt === null ? 'has prepared' : 'prepared';
  return `${said}, or waited for the first token of the model, for ${spokenMs(ms)}`;
}

const whenOver = (limit: number, ms: number, words: string): Said[] => (ms >= limit ? [{ ms, words }] : []);

type Finders = { readonly [K in Span['kind']]: (span: Extract<Span, { kind: K }>, ms: number) => readonly Said[] };

const FINDERS: Finders = {
  queue: (span, ms) => whenOver(SLOW_MS.queue, ms, `${waited(span)} ${spokenMs(ms)} ${queueWords(span)}`),
  prepare: ({ attempt }, ms) => {
    const again = attempt > 1 ? ` attempt ${attempt}` : '';
    return whenOver(SLOW_MS.prepare, ms, `took ${spokenMs(ms)} to prepare${again}: its brief, workspace and tools`);
  },
  model: (span, ms) => (span.timing === null ? unmeasured(span, ms) : measured(span, span.timing)),
  tool: ({ step, name, agent }, ms) => {
    const who = agent === null ? name : `the sub-agent ${agent}`;
    return whenOver(SLOW_MS.tool, ms, `step ${step}: ${who} took ${spokenMs(ms)}`);
  },
  question: (span, ms) => whenOver(SLOW_MS.question, ms, `${waited(span)} ${spokenMs(ms)} for an answer of its user`),
  compaction: (_, ms) =>
    whenOver(SLOW_MS.compaction, ms, `took ${spokenMs(ms)} to summarise the older part of the conversation`),
  interruption: (_, ms) => [{ ms, words: `was interrupted: ${spokenMs(ms)} passed since its last record` }],
  finish: (_, ms) => whenOver(SLOW_MS.finish, ms, `took ${spokenMs(ms)} to record its end`),
  collection: (_, ms) => whenOver(SLOW_MS.aftermath, ms, `its files took ${spokenMs(ms)} to be stored`),
  export: (_, ms) => whenOver(SLOW_MS.aftermath, ms, `its workspace took ${spokenMs(ms)} to be packed`),
};

const waited = ({ endedAt }: Span) => (endedAt === null ? 'has waited' : 'waited');

/** What a wait in the queue is for. */
export function queueWords({
  waitedFor,
  slots,
}: Pick<Extract<Span, { kind: 'queue' }>, 'waitedFor' | 'slots'>): string {
  if (waitedFor === 'session') return 'for the earlier runs of its session';
  if (waitedFor === 'worker') return 'for a worker';
  return `for a worker: ${slots === 1 ? 'the one slot was taken' : `all ${slots} slots taken`}`;
}

/** Such as `step 3`, or who called the model. */
export function callerOf({ purpose, step, agent }: Pick<ModelSpan, 'purpose' | 'step' | 'agent'>): string {
  if (agent !== null) return `the sub-agent ${agent}`;
  if (purpose === 'summary') return 'summary';
  return step === null ? 'model call' : `step ${step}`;
}

function unmeasured(span: Extract<Span, { kind: 'model' }>, ms: number): Said[] {
  // Only a call that goes on is long without a measure; those of earlier versions include what came before them.
  const words = span.endedAt === null ? 'the model has been at work for' : 'the model took';
  return whenOver(SLOW_MS.call, ms, `${callerOf(span)}: ${words} ${spokenMs(ms)}`);
}

function measured(span: ModelSpan, timing: CallTiming): Said[] {
  const who = callerOf(span);
  const { tries, commitWaitMs, budgetWaitMs, permitWaitMs, retryWaitMs, firstTokenMs, durationMs } = timing;
  const failed = span.ok === false ? tries : tries - 1;
  const failedMs = retryWaitMs + (span.ok === false ? durationMs : 0);
  const writingMs = durationMs - (firstTokenMs ?? durationMs);
  const tokens = span.usage?.outputTokens ?? 0;
  const rate = writingMs > 0 ? `, ${((tokens * 1_000) / writingMs).toFixed(1)} tokens a second` : '';
  return [
    ...whenOver(
      SLOW_MS.commitWait,
      commitWaitMs,
      `${who}: waited ${spokenMs(commitWaitMs)} for its record before the call`,
    ),
    ...whenOver(
      SLOW_MS.budgetWait,
      budgetWaitMs,
      `${who}: waited ${spokenMs(budgetWaitMs)} for its budget, which other calls held back`,
    ),
    ...whenOver(
      SLOW_MS.permitWait,
      permitWaitMs,
      `${who}: waited ${spokenMs(permitWaitMs)} for the endpoint, which had as many calls as it may take`,
    ),
    ...(failed > 0
      ? [{ ms: failedMs, words: `${who}: ${failedWords(failed)}, which took ${spokenMs(failedMs)}` }]
      : []),
    ...whenOver(
      SLOW_MS.firstToken,
      firstTokenMs ?? 0,
      `${who}: the model took ${spokenMs(firstTokenMs ?? 0)} to its first token`,
    ),
    ...whenOver(SLOW_MS.writing, writingMs, `${who}: the model wrote for ${spokenMs(writingMs)}${rate}`),
  ];
}

const failedWords = (failed: number) =>
  failed === 1 ? '1 request to the model failed' : `${failed} requests to the model failed`;
