// Shortens older messages without losing what was said and done: removes long tool results, reasoning and files.
import { charactersOf, type Conversation, type StepMessages } from '../conversation/conversation.ts';
import type { ModelMessage, ResultPart } from '../models/message.ts';
import { keptFileIn, quartersOf } from './kept-output.ts';

const SHORT_CHARACTERS = 400;
/** A result of the last step is not cut any more when it is that short. */
const LEAST_CHARACTERS = 1_000;
const NO_FILE = '[A file that was shown here was removed to save room. User files are in /uploads/.]';

type Pruned = Pick<Conversation, 'earlier' | 'steps'>;

/**
 * The conversation with its older messages pruned. The newest `keep` characters stay unchanged, and so does the last step.
 * Every call keeps a result.
 */
export function prune({ earlier, steps }: Pruned, keep: number): Pruned {
  let left = keep;
  const prunedSteps: StepMessages[] = [];
  for (const [age, step] of steps.toReversed().entries()) {
    left -= charactersOf(step.messages);
    prunedSteps.push(left >= 0 || age === 0 ? step : { ...step, messages: step.messages.map(pruneMessage) });
  }
  const prunedEarlier: ModelMessage[] = [];
  for (const message of earlier.toReversed()) {
    left -= charactersOf([message]);
    prunedEarlier.push(left >= 0 ? message : pruneMessage(message));
  }
  return { earlier: prunedEarlier.toReversed(), steps: prunedSteps.toReversed() };
}

/** The last step with its long results cut to half; undefined when it has none. */
export function cutStep(step: StepMessages): StepMessages | undefined {
  const isLong = ({ output }: ResultPart) => output.length > LEAST_CHARACTERS;
  if (!step.messages.some((message) => message.role === 'tool' && message.parts.some(isLong))) return undefined;
  const cut = (part: ResultPart) => (isLong(part) ? { ...part, output: quartersOf(part.output) } : part);
  const messages = step.messages.map((message) =>
    message.role === 'tool' ? { ...message, parts: message.parts.map(cut) } : message,
  );
  return { ...step, messages };
}

function pruneMessage(message: ModelMessage): ModelMessage {
  if (message.role === 'tool') return { ...message, parts: message.parts.map(pruneResult) };
  if (message.role === 'assistant') {
    const parts = message.parts.filter(({ type }) => type !== 'thinking');
    return parts.length === 0 ? message : { ...message, parts };
  }
  return {
    ...message,
    parts: message.parts.map((part) => (part.type === 'file' ? { type: 'text', text: NO_FILE } : part)),
  };
}

function pruneResult(part: ResultPart): ResultPart {
  const { output, name } = part;
  if (output.length <= SHORT_CHARACTERS) return part;
  const kept = keptFileIn(output);
  const where = kept === undefined ? '' : ` The whole output is in ${kept}.`;
  return { ...part, output: `[Removed to save room: ${output.length} characters that ${name} returned.${where}]` };
}
