// Turns as messages in the chat form that most model servers take.
import type { StoredStep, StoredTurn } from '../../../store/sessions/stored-turn.ts';

export type ChatMessage =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly calls: readonly ChatCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string };

/** `input` is JSON. */
export interface ChatCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** What the user said. Attachments are lines that name them, with their hashes. */
export function userMessageOf({ user, attachments }: StoredTurn): ChatMessage {
  const texts = user.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const files = attachments.map(
    ({ name, mimeType, size, sha256 }) => `[attached: ${name}, ${mimeType}, ${size} bytes, sha256 ${sha256}]`,
  );
  return { role: 'user', content: [...texts, ...files].join('\n') };
}

/** A reply of the model, and the results of its calls. A call without a result has none. */
export function stepMessagesOf({ text, calls }: StoredStep): ChatMessage[] {
  const asked = calls.map(({ id, name, input }) => ({ id, name, input: JSON.stringify(input) }));
  const results = calls.flatMap(({ id, state, output }): ChatMessage[] =>
    state === 'ended' ? [{ role: 'tool', callId: id, content: output }] : [],
  );
  return [{ role: 'assistant', content: text === '' ? null : text, calls: asked }, ...results];
}
