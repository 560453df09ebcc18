// One step's question to the model: with its tools, or for the result as a reply that its server keeps to the schema.
import type { FailedCall } from '../../domain/sessions/model-call.ts';
import { askModel, type Asked, type Asking } from './ask-model.ts';
import type { ModelCall } from './call/model-call.ts';
import type { ModelMessage } from '../models/message.ts';
import { replyInstead } from '../result/structured-result.ts';
import type { ResultSearch } from './result-search.ts';

/** How a call for the result differs from the others of its run. */
export type ResultCall = Required<Pick<ModelCall, 'instructions' | 'replySchema'>>;

/** `differs`: how the call that was made last does; null for a call with tools. */
export interface AskedStep {
  readonly asked: Asked;
  readonly differs: ResultCall | null;
}

/** How servers refuse a schema that they don't support: as an error of the request, or as one of their own. */
export const REFUSALS: ReadonlySet<FailedCall | null> = new Set(['rejected', 'failed']);

/**
 * Makes what asks for each step. Where the endpoint has `structured: json_schema`, the result is asked for as a reply when it is
 * due, and at once in a run without tools; but once only: a server that refuses the schema, or ignores it, is asked with the tool.
 */
export function makeAskStep(
  asking: Asking,
  schema: ModelCall['replySchema'] | null,
  search: Pick<ResultSearch, 'isDue' | 'tool'> | null,
): (messages: readonly ModelMessage[]) => Promise<AskedStep> {
  const { brief, instructions, tools } = asking.call;
  const hasTools = tools.some(({ name }) => name !== search?.tool.name);
  let isOpen = brief.model.structured === 'json_schema';
  const ask = async (messages: readonly ModelMessage[], differs: ResultCall | null): Promise<AskedStep> => {
    return { asked: await askModel({ ...asking, call: { ...asking.call, ...differs, messages } }), differs };
  };
  return async (messages) => {
    const isDue = search !== null && (!hasTools || search.isDue());
    if (!isOpen || !isDue || !schema) return ask(messages, null);
    // At the end of the instructions, so that servers can reuse their cache of what comes before.
    const differs = { instructions: `${instructions}\n- ${replyInstead(schema)}`, replySchema: schema };
    const step = await ask(messages, differs);
    // Its length says nothing of the schema. Without the schema it may fit; otherwise it is shortened, and asked so again.
    isOpen = !step.asked.ok && step.asked.isTooLong;
    return !step.asked.ok && REFUSALS.has(step.asked.outcome) ? ask(messages, null) : step;
  };
}
