// Checks that an endpoint reads a long prompt from its beginning. Some servers truncate it silently.
import { randomInt } from 'node:crypto';
import type { Finding, FindingState } from './check-task.ts';
import type { ListedModel } from '../models/list-models.ts';
import type { ModelGrant } from '../port/grants.ts';
import type { Ask, TimedCall } from './timed-call.ts';

/** Share of the context window that is filled, and the maximum that is sent for any window. */
const FILLED = 0.6;
const MAX_TOKENS = 32_000;
const SENTENCE = 'The quick brown fox jumps over the lazy dog. ';
/** Nearly every tokenizer takes one token for each word and one for the full stop. */
const TOKENS_A_SENTENCE = 10;
/** A count below this share of the estimate can't be explained by the tokenizer. */
const CUT_BELOW = 0.6;

/** A long prompt, and the reply to it. */
export interface LongAnswer {
  readonly marker: string;
  /** Tokens, estimated. */
  readonly sent: number;
  readonly answer: TimedCall;
}

/** Sends a prompt that fills most of the context window and asks for the word at its beginning. */
export async function askForTheStart(grant: ModelGrant, ask: Ask): Promise<LongAnswer> {
  const marker = `MARKER-${randomInt(100_000, 1_000_000)}`;
  const room = Math.max(512, grant.contextWindow - Math.min(grant.maxOutputTokens, grant.contextWindow / 2));
  const sent = Math.floor(Math.min(grant.contextWindow * FILLED, room, MAX_TOKENS));
  const filler = SENTENCE.repeat(Math.floor(sent / TOKENS_A_SENTENCE));
  const prompt = `The secret word is ${marker}. Remember it.\n\n${filler}\n\nWhat is the secret word? Answer with that word only.`;
  return { marker, sent, answer: await ask(prompt) };
}

/** That the endpoint itself lists a smaller window than models.yaml has; null when it doesn't. */
export function windowFinding(grant: ModelGrant, models: readonly ListedModel[]): Finding | null {
  // A server with one model serves it under any name.
  const listed = models.find(({ name }) => name === grant.model) ?? (models.length === 1 ? models[0] : undefined);
  const window = listed?.window ?? null;
  if (window === null || window >= grant.contextWindow) return null;
  const words = `A call of the server takes ${window} tokens, fewer than context_window (${grant.contextWindow}).`;
  return { check: 'context', state: 'warning', detail: `${words} ${remedyFor(grant, window)}` };
}

/** What the reply shows about the endpoint's real context window. */
export function contextFinding(grant: ModelGrant, { marker, sent, answer: { end } }: LongAnswer): Finding {
  const finding = (state: FindingState, detail: string): Finding => ({ check: 'context', state, detail });
  if (!end.ok) {
    const words = `A prompt of about ${sent} tokens failed: ${end.failure.error.message}`;
    return finding('warning', `${words} ${remedyFor(grant, null)}`);
  }
  const { usage, estimated, text } = end.reply;
  const read = estimated ? 0 : usage.inputTokens;
  if (read > 0 && read < sent * CUT_BELOW) {
    const words = `The server read ${read} of about ${sent} tokens: it truncates prompts silently.`;
    return finding('warning', `${words} ${remedyFor(grant, read)}`);
  }
  if (text.includes(marker)) return finding('ok', `It read a prompt of about ${sent} tokens from its beginning.`);
  const words = `The model did not know the beginning of a prompt of about ${sent} tokens.`;
  if (read > 0) return finding('warning', `${words} The server read all of it: the model handles long prompts badly.`);
  return finding('warning', `${words} The server may have truncated it. ${remedyFor(grant, null)}`);
}

function remedyFor({ contextWindow }: ModelGrant, read: number | null): string {
  const window = read === null ? 'the real limit of the server' : `about ${read}`;
  return (
    `Set the server's context to ${contextWindow} tokens (Ollama: OLLAMA_CONTEXT_LENGTH=${contextWindow}, or ` +
    `"PARAMETER num_ctx ${contextWindow}" in a Modelfile; llama.cpp: "-c ${contextWindow}", times the number after "-np"), or set context_window to ${window} in models.yaml.`
  );
}
