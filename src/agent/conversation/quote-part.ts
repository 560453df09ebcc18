// What a model is shown of the quote before a message: at most a share of its window, the newest of it.
import type { TextBlock } from '../../domain/sessions/content.ts';
import { cutQuote } from '../../domain/sessions/continued/quoted-history.ts';
import { CHARACTERS_PER_TOKEN } from '../../domain/sessions/usage.ts';
import type { TextPart, UserMessage } from '../models/message.ts';
import type { Brief } from '../port/protocol.ts';

const QUOTE_SHARE = 0.4;
/** A quote that is as short is not cut. */
const LEAST_CHARACTERS = 1_000;

/** Characters that a block of text takes. */
export function shownCharacters({ text, quoted }: TextBlock, { model }: Pick<Brief, 'model'>): number {
  if (quoted !== true) return text.length;
  const window = (model.contextWindow - model.maxOutputTokens) * CHARACTERS_PER_TOKEN;
  return Math.min(text.length, Math.max(LEAST_CHARACTERS, Math.floor(window * QUOTE_SHARE)));
}

/** A block of text as a model gets it. */
export function textPart(block: TextBlock, brief: Pick<Brief, 'model'>): TextPart {
  if (block.quoted !== true) return { type: 'text', text: block.text };
  return { type: 'text', quoted: true, text: cutQuote(block.text, shownCharacters(block, brief)) };
}

/** The message with its quote cut to half; undefined when it has none that is long. */
export function withLessQuoted(message: UserMessage): UserMessage | undefined {
  const isLong = (part: UserMessage['parts'][number]): part is TextPart =>
    part.type === 'text' && part.quoted === true && part.text.length > LEAST_CHARACTERS;
  if (!message.parts.some(isLong)) return undefined;
  const cut = (part: TextPart) => ({ ...part, text: cutQuote(part.text, Math.floor(part.text.length / 2)) });
  return { ...message, parts: message.parts.map((part) => (isLong(part) ? cut(part) : part)) };
}
