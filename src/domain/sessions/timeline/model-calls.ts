// The model calls of a time line: each row of the ledger becomes one span, in the place that the journal gives it.
import type { EventPayloads } from '../journal-event.ts';
import type { CallTiming, RecordedTiming } from '../call-timing.ts';
import type { LedgerCall } from './rows.ts';
import type { SpanFacts } from './timeline.ts';
import type { Usage } from '../usage.ts';

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
  /** The call that failed the run. The ledger has it only when it has cost something. */
  failed(timing: RecordedTiming, model: string, at: number): Draft;
  /** The call in the middle of which the run was stopped then. It is recorded after the stop, when the worker has ended. */
  stopped(at: number): Draft | null;
  /** Adds those that are left: of sub-agents as parts of the call that delegated to them, failed tries as parts of the reply. */
  placeRest(spans: Draft[]): void;
}

/** All that a call took, from the wait for its budget on. */
const totalMs = ({ budgetWaitMs, permitWaitMs, retryWaitMs, durationMs }: CallTiming) =>
  budgetWaitMs + permitWaitMs + retryWaitMs + durationMs;

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
            row.outcome === 'ok' &&
            row.at === at &&
            usage.inputTokens === inputTokens &&
            usage.outputTokens === outputTokens,
        );
      const span = spanOf(call ?? null, at, since);
      const firstTextMs = call?.timing || textAt === null ? null : Math.max(0, textAt - since);
      return { ...span, purpose: 'reply', step, model: call?.model ?? model, firstTextMs };
    },
    summary: (at) => {
      const call = take(
        (row) => row.purpose === 'summary' && row.outcome === 'ok' && row.agent === null && row.at <= at,
      );
      return call === undefined ? null : spanOf(call, call.at, call.at);
    },
    failed: (recorded, model, at) => {
      const timing = { budgetWaitMs: 0, ...recorded };
      const call = take(
        (row) =>
          row.purpose === 'reply' &&
          row.outcome === 'failed' &&
          row.timing?.tries === timing.tries &&
          row.timing.durationMs === timing.durationMs,
      );
      return spanOf({ ...(call ?? { ...NOT_RECORDED, model }), timing }, at, at);
    },
    stopped: (at) => {
      const call = take((row) => row.purpose === 'reply' && row.outcome === 'stopped' && row.at >= at);
      return call === undefined ? null : spanOf(call, call.at, call.at);
    },
    placeRest: (spans) => {
      const delegations = spans.filter((span) => span.kind === 'tool' && span.name === 'delegate');
      const replies = spans.filter((span) => span.kind === 'model' && span.step !== null);
      for (const call of left) {
        const wholes = call.purpose !== 'reply' ? delegations : call.outcome === 'failed' ? replies : [];
        const whole = wholes.find((span) => spansOver(span, call.at));
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

/** A call as far as it is known. */
type KnownCall = Omit<LedgerCall, 'usage' | 'costUsd' | 'at'> & {
  readonly usage: Usage | null;
  readonly costUsd: number | null;
};

const NOT_RECORDED: Omit<KnownCall, 'model' | 'timing'> = {
  purpose: 'reply',
  outcome: 'failed',
  step: null,
  agent: null,
  usage: null,
  estimated: false,
  costUsd: null,
};

/** Without a timing it began when the record before it was made. */
function spanOf(call: KnownCall | null, at: number, since: number): ModelDraft {
  const { purpose = null, step = null, agent = null, model = '', usage = null, costUsd = null } = call ?? {};
  const { timing = null, estimated = false, outcome = 'ok' } = call ?? {};
  const startedAt = Math.min(at, timing === null ? since : at - totalMs(timing));
  const facts = { purpose, step, agent, model, usage, estimated, costUsd, timing, firstTextMs: null };
  return { kind: 'model', ...facts, ok: outcome === 'ok', startedAt, endedAt: at, whole: null };
}
