// The agent's questions, as the user sees and answers them in a conversation.
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { safeLine, safeText } from '../../terminal/text.ts';

/** The lines of a question, each of its options on a line of its own. */
export function questionLines({ question, options, multiple }: JsonObject): string {
  const text = typeof question === 'string' ? safeText(question) : 'The agent asks a question.';
  const choices = optionsIn(options).map((option, at) => `\n  ${at + 1}. ${safeLine(option)}`);
  const how =
    choices.length === 0 ? '' : `\n  (${multiple === true ? 'numbers such as 1,3' : 'a number'}, or other words)`;
  return `? ${text}${choices.join('')}${how}`;
}

/** The answer in the user's text: numbers select options, anything else is the answer itself. */
export function answerOf(said: string, { options, multiple }: JsonObject): JsonValue {
  const choices = optionsIn(options);
  const numbers = said.trim().split(multiple === true ? /[\s,]+/ : /$/);
  const chosen = numbers.map((number) => (/^\d{1,3}$/.test(number) ? choices[Number(number) - 1] : undefined));
  if (!chosen.every((option) => option !== undefined)) return said;
  return multiple === true ? chosen : chosen[0]!;
}

function optionsIn(options: JsonValue | undefined): string[] {
  return Array.isArray(options) ? options.filter((option) => typeof option === 'string') : [];
}
