// What a model call uses: as its server counted it, or estimated by its length.
import {
  type CallUsage,
  CHARACTERS_PER_TOKEN,
  NO_USAGE,
  totalTokens,
  type Usage,
} from '../../../domain/sessions/usage.ts';
import type { ModelMessage, ModelTool } from '../../models/message.ts';
import { charactersOf } from '../../conversation/conversation.ts';
import type { Brief } from '../../port/protocol.ts';
import { schemaText } from '../../tools/schema-text.ts';

/** What a call sends. */
export interface Prompt {
  readonly brief: Pick<Brief, 'model'>;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
}

/** Of a tool's schema, within the tool's JSON in a list. */
const SCHEMA_FIELD = ',"inputSchema":,'.length;

/** The length of tools as a model reads them: of their JSON. */
export function charactersOfTools(tools: readonly ModelTool[]): number {
  const sizes = tools.map(({ name, description, inputSchema }) => {
    return JSON.stringify({ name, description }).length + SCHEMA_FIELD + schemaText(inputSchema).length;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

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
