// Reads what the protocols' requests share: the session, and the last user message (§1).
import { unprocessable } from '../../domain/errors.ts';
import type { InputBlock, TurnInput } from '../../operations/turns/turn.ts';
import type { Readable, Static } from '../../wire/shapes/shape.ts';
import type { metadata, TurnMessages } from '../../wire/conversations/turn.ts';
import { type Block, type ContentParts, readBlock } from './content-wire.ts';

/** A parsed request: the turn, and how its answer is wanted. */
export interface TurnRequest {
  readonly input: TurnInput;
  readonly stream: boolean;
}

/** What clients may say in headers, for those that can't put it into the body. */
export interface TurnHeaders {
  /** `Idempotency-Key`; the body's field wins. */
  readonly idempotencyKey: string | null;
  /** `X-Session-Id`, which means the same as `metadata.session_id`. */
  readonly sessionId: string | null;
}

export const NO_HEADERS: TurnHeaders = { idempotencyKey: null, sessionId: null };

/** The session that the turn continues, or null. Throws `unprocessable` when body and header name two. */
export function sessionOf(named: Static<typeof metadata> | undefined, { sessionId }: TurnHeaders): string | null {
  const inBody = named?.session_id ?? null;
  if (inBody !== null && sessionId !== null && inBody !== sessionId)
    throw unprocessable('metadata.session_id', 'must name the same session as the header X-Session-Id');
  return inBody ?? sessionId;
}

/** The blocks of the last `user` message. `content` is the shape of a message's content in its protocol. */
export async function readUserContent(
  messages: TurnMessages,
  content: Readable<string | readonly Block[]>,
  parts: ContentParts,
): Promise<InputBlock[]> {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  if (last === -1) throw unprocessable('messages', 'must hold a message whose role is user');
  const path = `messages[${last}].content`;
  return readContent(content.read(messages[last]!.content, path), path, parts);
}

/** The blocks of a message whose content is at `path`. */
export async function readContent(
  found: string | readonly Block[],
  path: string,
  parts: ContentParts,
): Promise<InputBlock[]> {
  const blocks: InputBlock[] =
    typeof found === 'string'
      ? [{ type: 'text', text: await parts.text.read(found, path) }]
      : await readBlocks(found, path, parts);
  const meaningful = blocks.filter((block) => block.type !== 'text' || block.text !== '');
  if (meaningful.length === 0) throw unprocessable(path, 'must not be empty');
  return meaningful;
}

/** One after the other: each counts what it holds. */
async function readBlocks(found: readonly Block[], path: string, parts: ContentParts): Promise<InputBlock[]> {
  const blocks: InputBlock[] = [];
  for (const [index, block] of found.entries()) blocks.push(await readBlock(block, `${path}[${index}]`, parts));
  return blocks;
}
