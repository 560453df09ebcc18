// Sums of a time line: by what the time went to, and what each step used and cost.
import { lengthOf, type Span, type Timeline } from './timeline.ts';

/** Time of a kind of span. Parts count with their whole. */
export interface KindSum {
  readonly kind: Span['kind'];
  readonly spans: number;
  readonly ms: number;
}

/** A step of the agent: its reply, its tools, and what its sub-agents and a summary before it used. */
export interface StepSum {
  readonly step: number;
  readonly model: string;
  readonly modelMs: number;
  readonly firstTokenMs: number | null;
  readonly toolMs: number;
  readonly tools: number;
  /** Calls of the model: its own, and those of sub-agents and for a summary. */
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** The sums by kind, in the order in which the kinds begin. */
export function kindSumsOf({ spans }: Pick<Timeline, 'spans'>, now: number): KindSum[] {
  const whole = Map.groupBy(
    spans.filter(({ parent }) => parent === null),
    ({ kind }) => kind,
  );
  return [...whole].map(([kind, of]) => ({
    kind,
    spans: of.length,
    ms: of.reduce((sum, span) => sum + lengthOf(span, now), 0),
  }));
}

/** The steps in order. Calls that belong to none yet, such as that for a summary, count for the next one. */
export function stepSumsOf({ spans }: Pick<Timeline, 'spans'>, now: number): StepSum[] {
  const sums: StepSum[] = [];
  let before: StepSum = NOTHING;
  for (const span of spans) {
    const current = sums.at(-1);
    if (span.kind === 'model') {
      const used = usedBy(span);
      if (span.step !== null) {
        const firstTokenMs = span.timing?.firstTokenMs ?? null;
        const own = { step: span.step, model: span.model, modelMs: lengthOf(span, now), firstTokenMs };
        sums.push({ ...plus(before, used), ...own });
        before = NOTHING;
      } else if (span.parent !== null && isOfStep(spans[span.parent]) && current !== undefined) {
        sums[sums.length - 1] = plus(current, used);
      } else before = plus(before, used);
    }
    if (span.kind === 'tool' && current !== undefined) {
      const toolMs = current.toolMs + lengthOf(span, now);
      sums[sums.length - 1] = { ...current, toolMs, tools: current.tools + 1 };
    }
  }
  return sums;
}

/** A sub-agent's call is a part of a tool, a failed try a part of the reply. */
const isOfStep = (whole: Span | undefined) => whole?.kind === 'tool' || whole?.kind === 'model';

type Used = Pick<StepSum, 'calls' | 'inputTokens' | 'outputTokens' | 'costUsd'>;

const NOTHING: StepSum = {
  step: 0,
  model: '',
  modelMs: 0,
  firstTokenMs: null,
  toolMs: 0,
  tools: 0,
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
};

function usedBy({ usage, costUsd }: Extract<Span, { kind: 'model' }>): Used {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return { calls: 1, inputTokens, outputTokens, costUsd: costUsd ?? 0 };
}

function plus(sum: StepSum, used: Used): StepSum {
  return {
    ...sum,
    calls: sum.calls + used.calls,
    inputTokens: sum.inputTokens + used.inputTokens,
    outputTokens: sum.outputTokens + used.outputTokens,
    costUsd: sum.costUsd + used.costUsd,
  };
}
