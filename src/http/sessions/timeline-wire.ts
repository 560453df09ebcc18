// The time line of a run as administrators read it.
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { CallTiming } from '../../domain/sessions/call-timing.ts';
import { lengthOf, type Span } from '../../domain/sessions/timeline/timeline.ts';
import type { Explanation } from '../../operations/turns/explain.ts';
import type { SpanWire, TimelineWire } from '../../wire/sessions/timeline.ts';
import { run as runRecord } from '../../wire/sessions/run.ts';

export function renderTimeline({ run, timeline, asOf, totalMs, totals, steps, slow }: Explanation): TimelineWire {
  return {
    run: runRecord.render(run),
    detail: timeline.detail,
    truncated: timeline.truncated,
    as_of: isoTime(asOf),
    total_ms: totalMs,
    totals: totals.map(({ kind, spans, ms }) => ({ kind, spans, duration_ms: ms })),
    slow: slow.map(({ span, ms, words }) => ({ span, duration_ms: ms, words })),
    steps: steps.map((step) => ({
      step: step.step,
      model: step.model,
      model_ms: step.modelMs,
      first_token_ms: step.firstTokenMs,
      tool_ms: step.toolMs,
      tools: step.tools,
      calls: step.calls,
      input_tokens: step.inputTokens,
      output_tokens: step.outputTokens,
      cost_usd: step.costUsd,
    })),
    spans: timeline.spans.map((span) => renderSpan(span, asOf)),
  };
}

function renderSpan(span: Span, asOf: number): SpanWire {
  return {
    kind: span.kind,
    started_at: isoTime(span.startedAt),
    ended_at: isoTimeOrNull(span.endedAt),
    duration_ms: lengthOf(span, asOf),
    parent: span.parent,
    ...(FACTS[span.kind] as (span: Span) => Partial<SpanWire>)(span),
  };
}

type Facts = { readonly [K in Span['kind']]: (span: Extract<Span, { kind: K }>) => Partial<SpanWire> };

const FACTS: Facts = {
  queue: ({ waitedFor, slots }) => ({ waited_for: waitedFor, slots }),
  prepare: ({ attempt }) => ({ attempt }),
  model: ({ purpose, step, agent, model, ok, usage, estimated, costUsd, timing, firstTextMs }) => ({
    purpose,
    step,
    agent,
    model,
    ok,
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    estimated,
    cost_usd: costUsd,
    timing: timing === null ? null : renderTiming(timing),
    first_text_ms: firstTextMs,
  }),
  tool: ({ step, toolUseId, name, agent, ok }) => ({ step, tool_use_id: toolUseId, name, agent, ok }),
  question: ({ requestId, outcome }) => ({ request_id: requestId, outcome }),
  compaction: ({ step, characters }) => ({ step, characters }),
  interruption: ({ resumes }) => ({ resumes }),
  finish: () => ({}),
  collection: ({ ok }) => ({ ok }),
  export: ({ ok }) => ({ ok }),
};

function renderTiming(timing: CallTiming): NonNullable<SpanWire['timing']> {
  return {
    tries: timing.tries,
    commit_wait_ms: timing.commitWaitMs,
    budget_wait_ms: timing.budgetWaitMs,
    permit_wait_ms: timing.permitWaitMs,
    retry_wait_ms: timing.retryWaitMs,
    first_token_ms: timing.firstTokenMs,
    duration_ms: timing.durationMs,
  };
}
