// What a model is told in a turn: earlier turns, what the user says now, and the steps since; and how long all that is.
import type { ModelMessage, UserModelMessage } from 'ai';
import { CHARACTERS_PER_TOKEN } from '../../domain/usage.ts';
import type { Compaction } from '../port/protocol.ts';

/** The messages of one step: the model's reply and what it was answered. */
export interface StepMessages {
  /** Counted from 1 within the run. */
  readonly step: number;
  readonly messages: readonly ModelMessage[];
}

/** A turn's conversation. Its parts are replaced, never changed in place. */
export interface Conversation {
  /** Stands in front of the first message: a summary of what is no longer there, a note; null when all is there. */
  preface: string | null;
  /** Messages of earlier turns, oldest first. */
  earlier: readonly ModelMessage[];
  /** What the user says in this turn. */
  readonly request: UserModelMessage;
  readonly steps: StepMessages[];
}

/** The messages as the model is given them. The preface is part of the first one, since that is always the user's. */
export function messagesOf({ preface, earlier, request, steps }: Conversation): ModelMessage[] {
  const messages = [...earlier, request, ...steps.flatMap((step) => step.messages)];
  const [first, ...rest] = messages;
  if (preface === null || first?.role !== 'user') return messages;
  const content = typeof first.content === 'string' ? [{ type: 'text' as const, text: first.content }] : first.content;
  return [{ ...first, content: [{ type: 'text', text: preface }, ...content] }, ...rest];
}

/** Characters that a picture counts for. */
const FILE_CHARACTERS = 5_000;
const sizes = new WeakMap<ModelMessage, number>();

/** How long messages are, in characters of what a model reads. */
export function charactersOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

function sizeOf(message: ModelMessage): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const { content } = message;
  let size = 10;
  for (const part of typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content) {
    if (part.type === 'text' || part.type === 'reasoning') size += part.text.length;
    else if (part.type === 'tool-call') size += part.toolName.length + JSON.stringify(part.input).length;
    else if (part.type === 'tool-result') size += part.toolName.length + JSON.stringify(part.output).length;
    else if (part.type === 'file') size += FILE_CHARACTERS;
  }
  sizes.set(message, size);
  return size;
}

/** A server whose counts lead beyond these does not count what it was sent. */
const FEWEST = 1.2;
const MOST = 4.5;

/** An estimate of tokens that learns from what the server counted. */
export interface TokenEstimate {
  /** Tokens of a whole call with these messages. */
  tokens(messages: readonly ModelMessage[]): number;
  /** Characters that so many tokens are, at this rate. */
  charactersIn(tokens: number): number;
  /** Takes in how many tokens the server counted for a call; 0 when it counts none. */
  learn(messages: readonly ModelMessage[], inputTokens: number): void;
}

/** `fixed`: characters of instructions and tools, which are part of each call. */
export function makeTokenEstimate(fixed: number): TokenEstimate {
  let rate = CHARACTERS_PER_TOKEN;
  const all = (messages: readonly ModelMessage[]) => fixed + charactersOf(messages);
  return {
    tokens: (messages) => all(messages) / rate,
    charactersIn: (tokens) => tokens * rate,
    learn: (messages, inputTokens) => {
      if (inputTokens > 0) rate = Math.min(MOST, Math.max(FEWEST, all(messages) / inputTokens));
    },
  };
}

/** How the agent is told of a summary, in front of what follows it. */
export function prefaceOf({ summary, step }: Compaction): string {
  const done =
    step === 0
      ? ''
      : ' It covers what you have already done for the request below: go on from there, do not begin anew.';
  return `Summary of the conversation up to here, whose older part no longer fits.${done}\n\n${summary}\n\n(End of the summary.)`;
}
