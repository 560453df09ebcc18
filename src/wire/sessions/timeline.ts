// The time line of a run, as the management interface returns it.
import { CALL_PURPOSES } from '../../domain/sessions/call-timing.ts';
import { array, object } from '../shapes/composites.ts';
import { boolean, integer, number, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { named, nullable, optional, type Static } from '../shapes/shape.ts';
import { run } from './run.ts';

const count = integer({ from: 0 });

const KINDS = [
  'queue',
  'prepare',
  'model',
  'tool',
  'question',
  'compaction',
  'interruption',
  'finish',
  'collection',
  'export',
] as const;

/** Durations of a model call in milliseconds. The pace is that of the last try. */
const timing = named(
  'CallTiming',
  object({
    tries: count,
    commit_wait_ms: count,
    budget_wait_ms: count,
    permit_wait_ms: count,
    retry_wait_ms: count,
    first_token_ms: nullable(count),
    duration_ms: count,
  }),
);

/**
 * `estimated`: the model's server reported no tokens, so they are counted by length. `parent` is the index of the span that it is a part of. A span without an end lasts until
 * `as_of`.
 */
export const span = named(
  'TimelineSpan',
  object({
    kind: oneOf(KINDS),
    started_at: time,
    ended_at: nullable(time),
    duration_ms: count,
    parent: nullable(count),
    waited_for: optional(oneOf(['session', 'slots', 'worker'])),
    slots: optional(nullable(count)),
    attempt: optional(count),
    purpose: optional(nullable(oneOf(CALL_PURPOSES))),
    step: optional(nullable(count)),
    agent: optional(nullable(string)),
    model: optional(string),
    ok: optional(nullable(boolean)),
    input_tokens: optional(nullable(count)),
    output_tokens: optional(nullable(count)),
    estimated: optional(boolean),
    cost_usd: optional(nullable(number({ from: 0 }))),
    timing: optional(nullable(timing)),
    first_text_ms: optional(nullable(count)),
    tool_use_id: optional(string),
    name: optional(string),
    request_id: optional(uuid),
    outcome: optional(nullable(oneOf(['answered', 'expired']))),
    characters: optional(count),
    resumes: optional(count),
  }),
);
export type SpanWire = Static<typeof span>;

/** `totals` are of spans without a parent. `slow`: what took longer than its limit, the longest first. */
export const timeline = named(
  'RunTimeline',
  object({
    run,
    detail: oneOf(['complete', 'coarse', 'removed']),
    truncated: boolean,
    as_of: time,
    total_ms: count,
    totals: array(object({ kind: oneOf(KINDS), spans: count, duration_ms: count })),
    slow: array(object({ span: count, duration_ms: count, words: string })),
    steps: array(
      object({
        step: count,
        model: string,
        model_ms: count,
        first_token_ms: nullable(count),
        tool_ms: count,
        tools: count,
        calls: count,
        input_tokens: count,
        output_tokens: count,
        cost_usd: number({ from: 0 }),
      }),
    ),
    spans: array(span),
  }),
);
export type TimelineWire = Static<typeof timeline>;
