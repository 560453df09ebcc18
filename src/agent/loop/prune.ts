// Shortens older messages without losing what was said and done: removes long tool results, reasoning and files.
import type { ModelMessage, ToolModelMessage } from 'ai';
import { charactersOf, type Conversation, type StepMessages } from '../conversation/conversation.ts';
import { keptFileIn } from './kept-output.ts';

const SHORT_CHARACTERS = 400;
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

function pruneMessage(message: ModelMessage): ModelMessage {
  if (message.role === 'tool') return { ...message, content: message.content.map(pruneResult) };
  if (typeof message.content === 'string') return message;
  if (message.role === 'assistant') {
    const content = message.content.filter(({ type }) => type !== 'reasoning');
    return content.length === 0 ? message : { ...message, content };
  }
  if (message.role !== 'user') return message;
  const content = message.content.map((part) =>
    part.type === 'file' ? { type: 'text' as const, text: NO_FILE } : part,
  );
  return { ...message, content };
}

type ToolPart = ToolModelMessage['content'][number];

function pruneResult(part: ToolPart): ToolPart {
  if (part.type !== 'tool-result') return part;
  const { output, toolName } = part;
  if ((output.type !== 'text' && output.type !== 'error-text') || output.value.length <= SHORT_CHARACTERS) return part;
  const kept = keptFileIn(output.value);
  const where = kept === undefined ? '' : ` The whole output is in ${kept}.`;
  const value = `[Removed to save room: ${output.value.length} characters that ${toolName} returned.${where}]`;
  return { ...part, output: { ...output, value } };
}
