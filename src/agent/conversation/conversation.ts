// A turn's conversation as the model gets it: earlier turns, the user's request, and the steps since; and its length.
import { CHARACTERS_PER_TOKEN } from '../../domain/sessions/usage.ts';
import type { MessagePart, ModelMessage, UserMessage } from '../models/message.ts';
import type { Compaction } from '../port/protocol.ts';

/** The messages of one step: the model's reply and the results of its calls. */
export interface StepMessages {
  /** Counted from 1 within the run. */
  readonly step: number;
  readonly messages: readonly ModelMessage[];
}

/** A turn's conversation. Its parts are replaced, never modified in place. */
export interface Conversation {
  /** Prepended to the first message: a summary of what was removed, or a note; null when nothing was removed. */
  preface: string | null;
  /** Messages of earlier turns, oldest first. */
  earlier: readonly ModelMessage[];
  /** The user's message of this turn. */
  request: UserMessage;
  readonly steps: StepMessages[];
}

/** The messages as the model gets them. The preface is part of the first one, which is always the user's. */
export function messagesOf({ preface, earlier, request, steps }: Conversation): ModelMessage[] {
  const messages = [...earlier, request, ...steps.flatMap((step) => step.messages)];
  const [first, ...rest] = messages;
  if (preface === null || first?.role !== 'user') return messages;
  return [{ role: 'user', parts: [{ type: 'text', text: preface }, ...first.parts] }, ...rest];
}

/** Characters that an image counts for. */
const FILE_CHARACTERS = 5_000;
const sizes = new WeakMap<ModelMessage, number>();

/** The length of messages, in characters that a model reads. */
export function charactersOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

function sizeOf(message: ModelMessage): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  let size = 10;
  for (const part of message.parts) size += SIZES[part.type](part as never);
  sizes.set(message, size);
  return size;
}

const SIZES: { readonly [T in MessagePart['type']]: (part: Extract<MessagePart, { type: T }>) => number } = {
  text: ({ text }) => text.length,
  thinking: ({ text }) => text.length,
  file: () => FILE_CHARACTERS,
  call: ({ name, input }) => name.length + JSON.stringify(input).length,
  result: ({ name, output }) => name.length + JSON.stringify(output).length,
};

/** Rates outside of these mean that the server does not count what it was sent. */
const FEWEST = 1.2;
const MOST = 4.5;

/** An estimate of tokens that learns from the server's counts. */
export interface TokenEstimate {
  /** Tokens of a whole call with these messages. */
  tokens(messages: readonly ModelMessage[]): number;
  /** The number of characters that this many tokens correspond to. */
  charactersIn(tokens: number): number;
  /** Learns how many tokens the server counted for a call; 0 when it reports no count. */
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

/** Introduces a summary to the agent, before the messages that follow it. */
export function prefaceOf({ summary, step }: Compaction): string {
  const done =
    step === 0
      ? ''
      : ' It covers what you have already done for the request below: continue from there, do not start again.';
  return `Summary of the conversation so far; its older part no longer fits.${done}\n\n${summary}\n\n(End of the summary.)`;
}
