// Checks whether a model's server keeps a reply to a schema, and names the line of models.yaml that uses it.
import type { JsonObject } from '../../domain/json.ts';
import { makeResultTaker } from '../result/structured-result.ts';
import { REFUSALS } from '../loop/ask-step.ts';
import type { ModelGrant } from '../port/grants.ts';
import type { Finding, FindingState } from './check-task.ts';
import type { Ask } from './timed-call.ts';

/** A question that is never answered like that by itself: no word of the schema is in it. */
const QUESTION = 'What is 17 plus 25? Answer with one short English sentence.';
const SCHEMA: JsonObject = {
  type: 'object',
  properties: { total: { type: 'integer' }, unit: { type: 'string', enum: ['none'] } },
  required: ['total', 'unit'],
  additionalProperties: false,
};

/** Asks for a reply to a schema. A server that can't is a problem only where models.yaml says that it can. */
export async function checkStructured({ structured }: ModelGrant, ask: Ask): Promise<Finding> {
  const { end } = await ask(QUESTION, [], SCHEMA);
  const finding = (state: FindingState, detail: string): Finding => ({ check: 'structured', state, detail });
  if (!end.ok && !REFUSALS.has(end.failure.outcome)) return finding('skipped', end.failure.error.message);
  const isUsed = structured === 'json_schema';
  if (end.ok && makeResultTaker(SCHEMA).checkText(end.reply.text).ok) {
    const advice = isUsed
      ? 'models.yaml uses that.'
      : 'To use that for results, write "structured: json_schema" in models.yaml.';
    return finding('ok', `Yes: the server keeps a reply to a schema. ${advice}`);
  }
  const why = end.ok ? 'the server ignored the schema of a reply' : end.failure.error.message;
  const advice = isUsed
    ? 'Write "structured: tool" in models.yaml: results come by a tool call all the same.'
    : 'Results come by a tool call.';
  return finding(isUsed ? 'warning' : 'ok', `No: ${why.replace(/\.$/, '')}. ${advice}`);
}
