// What a model call uses: as its server counted it, or estimated by its length.
import {
  type CallUsage,
  CHARACTERS_PER_TOKEN,
  NO_USAGE,
  totalTokens,
  type Usage,
} from '../../../domain/sessions/usage.ts';
import { remember } from '../../../domain/remember.ts';
import type { ModelMessage, ModelTool } from '../../models/message.ts';
import { charactersOf } from '../../conversation/conversation.ts';
import type { Brief } from '../../port/protocol.ts';
import { definitionText } from '../../tools/definition-text.ts';

/** What a call sends. */
export interface Prompt {
  readonly brief: Pick<Brief, 'model'>;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
}

/** How much longer a tool is in a list of offered ones than its definition. */
const OFFERED = ',"inputSchema":'.length - '"schema":'.length;

/** The length of tools as a model reads them. */
export const charactersOfTools = remember((tools: readonly ModelTool[]): number =>
  tools.reduce((sum, tool) => sum + OFFERED + definitionText(tool).length, 0),
);

/** Tokens of a prompt, estimated: never more than the window takes. */
export function promptTokensOf({ brief, instructions, messages, tools }: Prompt): number {
  const characters = instructions.length + charactersOfTools(tools) + charactersOf(messages);
  return Math.min(brief.model.contextWindow, Math.ceil(characters / CHARACTERS_PER_TOKEN));
}

/** What a call has used that its server worked on: the server's count, else its prompt and the bytes that were received. */
export function usageOf(prompt: Prompt, reported: Usage, receivedBytes: number): CallUsage {
  if (totalTokens(reported) > 0) return { usage: reported, estimated: false };
  const outputTokens = Math.ceil(receivedBytes / CHARACTERS_PER_TOKEN);
  return { usage: { ...NO_USAGE, inputTokens: promptTokensOf(prompt), outputTokens }, estimated: true };
}
