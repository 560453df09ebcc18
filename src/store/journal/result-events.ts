// The events that report a result which is the content of its reply (decision 9).
import type { NewEvent } from '../../domain/sessions/journal-event.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Protocol } from '../../domain/sessions/run.ts';

/** On Messages, where content has blocks, the result is one. Without a result, there are none. */
export function eventsOfResult(protocol: Protocol, structured: { readonly value: JsonValue } | undefined): NewEvent[] {
  if (structured === undefined) return [];
  const result: NewEvent = { type: 'run.result', payload: { structuredOutput: structured.value } };
  if (protocol === 'chat') return [result];
  return [{ type: 'result_block_start', payload: {} }, result, { type: 'result_block_stop', payload: {} }];
}
