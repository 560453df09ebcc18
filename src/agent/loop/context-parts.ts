// What fills a model's window at a call, by the length of its parts (G7).
import { CHARACTERS_PER_TOKEN, type ContextParts } from '../../domain/sessions/usage.ts';
import type { ModelMessage, ModelTool } from '../models/message.ts';
import { charactersOf } from '../conversation/conversation.ts';
import { charactersOfTools } from './call/call-usage.ts';

/** What is part of each call of a run. */
interface Fixed {
  readonly instructions: string;
  readonly tools: readonly ModelTool[];
}

/**
 * Makes the function that shares the tokens of a call among its parts. `inputTokens`: as the server counted; where it
 * counts none, they are estimated.
 */
export function makeContextParts({ instructions, tools }: Fixed) {
  const system = instructions.length;
  const offered = charactersOfTools(tools);
  return (messages: readonly ModelMessage[], inputTokens: number): ContextParts => {
    const all = system + offered + charactersOf(messages);
    const total = inputTokens > 0 ? inputTokens : Math.ceil(all / CHARACTERS_PER_TOKEN);
    const tokens = (characters: number) => Math.floor((total * characters) / all);
    const parts = { system: tokens(system), tools: tokens(offered) };
    return { ...parts, history: total - parts.system - parts.tools };
  };
}
