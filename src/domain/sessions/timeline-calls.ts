// The model calls of a time line: each row of the ledger becomes one span, in the place that the journal gives it.
import type { EventPayloads } from '../journal-event.ts';
import type { CallTiming } from './call-timing.ts';
import type { LedgerCall } from './timeline-rows.ts';
import type { SpanFacts } from './timeline.ts';

/** A span under construction: its whole is named by identity until all are in order. */
export type Draft = SpanFacts & { startedAt: number; endedAt: number | null; whole: Draft | null };

/** When a reply was recorded, when the record before it was, and when its first text was. */
interface ReplyTimes {
  readonly since: number;
  readonly at: number;
  readonly textAt: number | null;
}

/** The calls of a run. Each is taken once. */
export interface Calls {
  reply(
    step: Pick<EventPayloads['run.step'], 'step' | 'inputTokens' | 'outputTokens'>,
    times: ReplyTimes,
    model: string,
  ): Draft;
  /** The call for a summary of the run's own agent that was recorded last until then. */
  summary(at: number): Draft | null;
  /** A call that failed, which the ledger doesn't have. */
  failed(timing: CallTiming, model: string, at: number): Draft;
  /** Adds those that are left: of sub-agents as parts of the call that delegated to them. */
  placeRest(spans: Draft[]): void;
}

/** All that a call took, from the wait for its permit on. */
const totalMs = ({ permitWaitMs, retryWaitMs, durationMs }: CallTiming) => permitWaitMs + retryWaitMs + durationMs;

const UNKNOWN = { usage: null, costUsd: null, firstTextMs: null };

/** The calls of the ledger, in its order. */
export function takeCalls(rows: readonly LedgerCall[]): Calls {
  const left = new Set(rows);
  const take = (matches: (call: LedgerCall) => boolean): LedgerCall | undefined => {
    for (const call of left) {
      if (!matches(call)) continue;
      left.delete(call);
      return call;
    }
    return undefined;
  };
  return {
    reply: ({ step, inputTokens, outputTokens }, { since, at, textAt }, model) => {
      const call =
        take((row) => row.purpose === 'reply' && row.step === step) ??
        // Rows of earlier versions are known by their commit.
        take(
          ({ purpose, usage, ...row }) =>
            purpose === null &&
            row.at === at &&
            usage.inputTokens === inputTokens &&
            usage.outputTokens === outputTokens,
        );
      const span = spanOf(call ?? null, at, since);
      const firstTextMs = call?.timing || textAt === null ? null : Math.max(0, textAt - since);
      return { ...span, purpose: 'reply', step, model: call?.model ?? model, firstTextMs };
    },
    summary: (at) => {
      const call = take((row) => row.purpose === 'summary' && row.agent === null && row.at <= at);
      return call === undefined ? null : spanOf(call, call.at, call.at);
    },
    failed: (timing, model, at) => ({
      ...UNKNOWN,
      kind: 'model',
      purpose: 'reply',
      step: null,
      agent: null,
      model,
      ok: false,
      timing,
      startedAt: at - totalMs(timing),
      endedAt: at,
      whole: null,
    }),
    placeRest: (spans) => {
      const delegations = spans.filter((span) => span.kind === 'tool' && span.name === 'delegate');
      for (const call of left) {
        const whole = call.purpose === 'reply' ? undefined : delegations.find((span) => spansOver(span, call.at));
        spans.push({ ...spanOf(call, call.at, call.at), whole: whole ?? null });
      }
      left.clear();
    },
  };
}

function spansOver({ startedAt, endedAt }: Draft, at: number): boolean {
  return startedAt <= at && at <= (endedAt ?? Infinity);
}

type ModelDraft = Extract<Draft, { kind: 'model' }>;

/** Without a timing it began when the record before it was made. */
function spanOf(call: LedgerCall | null, at: number, since: number): ModelDraft {
  const { purpose = null, step = null, agent = null, model = '', usage = null, costUsd = null } = call ?? {};
  const timing = call?.timing ?? null;
  const startedAt = Math.min(at, timing === null ? since : at - totalMs(timing));
  const facts = { purpose, step, agent, model, usage, costUsd, timing, ok: true, firstTextMs: null };
  return { kind: 'model', ...facts, startedAt, endedAt: at, whole: null };
}
