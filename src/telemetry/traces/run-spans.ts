// The spans of a run that has ended, made of its time line: ids, names, durations and counts, never content.
import { hash } from 'node:crypto';
import { type ModelSpan, type Span, type SpanFacts, type Timeline } from '../../domain/sessions/timeline/timeline.ts';
import { type Attributes, attributesOf, nanoseconds, type OtlpSpan, SPAN_KINDS, statusOf } from './otlp.ts';
import type { TraceParent } from './traceparent.ts';

/** The id of the trace of a run without a parent: the run's own, so that each is found by the other. */
export const traceIdOf = (runId: string): string => runId.replaceAll('-', '');

/** Ids of the parts of a run: the same whenever they are sent, so that a trace that is sent twice is one trace. */
interface SpanIds {
  readonly root: string;
  readonly step: (step: number) => string;
  readonly part: (index: number) => string;
}

/** One hash for a run, in which its parts count on: steps have the odd numbers. */
function spanIdsOf(runId: string): SpanIds {
  const bytes = hash('sha256', runId, 'buffer');
  const start = bytes.toString('hex', 0, 4);
  const from = bytes.readUInt32BE(4);
  const nth = (at: number) => start + ((from + at) >>> 0).toString(16).padStart(8, '0');
  return { root: nth(0), step: (step) => nth(2 * step + 1), part: (index) => nth(2 * index + 2) };
}

/** The spans: the run, its steps, and in them their model calls and tools, in which those of sub-agents are. */
export function spansOfRun(timeline: Timeline, parent: TraceParent | null): OtlpSpan[] {
  const { run } = timeline;
  const traceId = parent?.traceId ?? traceIdOf(run.id);
  const ids = spanIdsOf(run.id);
  const endedAt = run.finishedAt ?? run.createdAt;
  // What has not ended with its run is not told: its files may still be collected.
  const parts = timeline.spans.flatMap((span, index) => (span.endedAt === null ? [] : [{ span, index }]));
  const steps = stepsOf(parts.map(({ span }) => span));
  const agents = agentsOf(timeline.spans);

  const parentOf = ({ parent: whole, ...facts }: Span): string => {
    if (whole !== null) return ids.part(whole);
    const step = stepOf(facts);
    return step === null ? ids.root : ids.step(step);
  };
  const make = (id: string, parentSpanId: string, facts: SpanText & Times): OtlpSpan => ({
    traceId,
    spanId: id,
    parentSpanId,
    name: facts.name,
    kind: SPAN_KINDS[facts.kind ?? 'internal'],
    startTimeUnixNano: nanoseconds(facts.startedAt),
    endTimeUnixNano: nanoseconds(Math.max(facts.startedAt, facts.endedAt)),
    attributes: attributesOf(facts.attributes),
    status: statusOf(facts.ok ?? null, facts.reason ?? null),
  });

  const { parentSpanId: _none, ...root } = make(ids.root, '', {
    ...textOfRun(timeline),
    startedAt: run.createdAt,
    endedAt,
  });
  return [
    parent === null ? root : { ...root, parentSpanId: parent.spanId },
    ...[...steps].map(([step, times]) =>
      make(ids.step(step), ids.root, {
        name: `step ${step}`,
        attributes: { 'errand.step': step },
        ...times,
      }),
    ),
    ...parts.map(({ span, index }) =>
      make(ids.part(index), parentOf(span), {
        ...textOf(span.kind === 'tool' && !agents.has(span.agent) ? { ...span, agent: null } : span),
        startedAt: span.startedAt,
        endedAt: span.endedAt ?? span.startedAt,
      }),
    ),
  ];
}

interface Times {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What a span says. */
interface SpanText {
  readonly name: string;
  readonly kind?: keyof typeof SPAN_KINDS;
  readonly attributes: Attributes;
  readonly ok?: boolean | null;
  readonly reason?: string | null;
}

/** The step that a part belongs to: replies of the run's own agent, and its tools. */
function stepOf(facts: SpanFacts): number | null {
  if (facts.kind === 'model') return facts.step;
  return facts.kind === 'tool' ? facts.step : null;
}

/** Each step, from the beginning of its first part to the end of its last. */
function stepsOf(spans: readonly Span[]): ReadonlyMap<number, Times> {
  const steps = new Map<number, Times>();
  for (const span of spans) {
    const step = span.parent === null ? stepOf(span) : null;
    if (step === null) continue;
    const { startedAt, endedAt } = steps.get(step) ?? { startedAt: span.startedAt, endedAt: span.startedAt };
    steps.set(step, {
      startedAt: Math.min(startedAt, span.startedAt),
      endedAt: Math.max(endedAt, span.endedAt ?? span.startedAt),
    });
  }
  return steps;
}

function textOfRun({ run, detail, truncated }: Timeline): SpanText {
  const { usage } = run;
  return {
    name: 'run',
    kind: 'server',
    attributes: {
      'errand.run.id': run.id,
      'errand.session.id': run.sessionId,
      'errand.run.status': run.status,
      'errand.run.attempt': run.attempt,
      'errand.run.resumes': run.resumes,
      'errand.timeline': truncated ? 'truncated' : detail,
      'gen_ai.request.model': run.model,
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'errand.cost_usd': run.costUsd,
      'error.type': run.error?.type ?? null,
    },
    ok: run.status === 'completed' ? true : run.error === null ? null : false,
    reason: run.error?.type ?? null,
  };
}

/** Those that were asked. A call that delegates names what the model wrote, which need not be an agent at all. */
function agentsOf(spans: readonly Span[]): ReadonlySet<string | null> {
  return new Set(spans.map((span) => (span.kind === 'model' ? span.agent : null)));
}

type TextOf = { readonly [K in SpanFacts['kind']]: (span: Extract<Span, { kind: K }>) => SpanText };

const TEXTS: TextOf = {
  queue: ({ waitedFor }) => ({ name: 'queue', attributes: { 'errand.waited_for': waitedFor } }),
  prepare: ({ attempt }) => ({ name: 'prepare', attributes: { 'errand.run.attempt': attempt } }),
  model: (span) => textOfCall(span),
  tool: (span) => textOfTool(span),
  question: ({ outcome }) => ({ name: 'question', attributes: { 'errand.question.outcome': outcome } }),
  compaction: ({ step }) => ({ name: 'compaction', attributes: { 'errand.step': step } }),
  interruption: ({ resumes }) => ({ name: 'interruption', attributes: { 'errand.run.resumes': resumes }, ok: false }),
  finish: () => ({ name: 'finish', attributes: {} }),
  collection: ({ ok }) => ({ name: 'collect files', attributes: {}, ok }),
  export: ({ ok }) => ({ name: 'export workspace', attributes: {}, ok }),
};

function textOf(span: Span): SpanText {
  return (TEXTS[span.kind] as (of: Span) => SpanText)(span);
}

function textOfTool({ name, toolUseId, agent, ok }: Extract<Span, { kind: 'tool' }>): SpanText {
  return {
    name: `execute_tool ${name}`,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': toolUseId,
      'gen_ai.agent.name': agent,
    },
    ok,
  };
}

function textOfCall({ purpose, agent, model, ok, usage, estimated, costUsd, timing }: ModelSpan): SpanText {
  return {
    name: `chat ${model}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.agent.name': agent,
      'gen_ai.usage.input_tokens': usage?.inputTokens ?? null,
      'gen_ai.usage.output_tokens': usage?.outputTokens ?? null,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheReadTokens ?? null,
      'errand.cost_usd': costUsd,
      'errand.usage.estimated': usage === null ? null : estimated,
      'errand.call.purpose': purpose,
      'errand.call.tries': timing?.tries ?? null,
      'errand.call.first_token_ms': timing?.firstTokenMs ?? null,
      'errand.call.budget_wait_ms': timing?.budgetWaitMs ?? null,
      'errand.call.permit_wait_ms': timing?.permitWaitMs ?? null,
      'errand.call.retry_wait_ms': timing?.retryWaitMs ?? null,
      'errand.call.commit_wait_ms': timing?.commitWaitMs ?? null,
    },
    ok,
  };
}
