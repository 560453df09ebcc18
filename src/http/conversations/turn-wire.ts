// Reads what both protocols' requests share: the model's name, the session, and the last user message (§1).
import { unprocessable } from '../../domain/errors.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { InputBlock, TurnInput } from '../../operations/turns/turn.ts';
import type { BlockReader, ContentParts } from './content-wire.ts';
import { lineOfAtMost, optional, readArray, readObject, readString, readUuid, textOfAtMost } from '../frame/fields.ts';

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

const MAX_MESSAGES = 10_000;
const MAX_BLOCKS = 1_000;
const MAX_ATTACHMENTS = 100;

/** A key that finds the run of a repeated request: 1 to 128 characters on one line (D4). */
export const readIdempotencyKey = lineOfAtMost(128);

/** The request's `model`, needed on both endpoints (C1). */
export function readModel(body: JsonObject): string {
  return textOfAtMost(256)(body['model'], 'model');
}

/** The session that the turn continues, or null. Throws `unprocessable` when body and header name two. */
export function readSessionId(body: JsonObject, { sessionId }: TurnHeaders): string | null {
  const metadata = optional(body['metadata'], 'metadata', readObject);
  const named = optional(metadata?.['session_id'], SESSION_FIELD, readUuid);
  if (named !== null && sessionId !== null && named !== sessionId)
    throw unprocessable(SESSION_FIELD, 'must name the same session as the header X-Session-Id');
  return named ?? sessionId;
}

const SESSION_FIELD = 'metadata.session_id';

/** The blocks of the last `user` message; messages of other roles are only looked at for their form (§1 rules 1, 2). */
export async function readUserContent(
  body: JsonObject,
  readers: ReadonlyMap<string, BlockReader>,
  parts: ContentParts,
): Promise<InputBlock[]> {
  const messages = readArray(body['messages'], 'messages');
  if (messages.length === 0) throw unprocessable('messages', 'must not be empty');
  if (messages.length > MAX_MESSAGES) throw unprocessable('messages', `must hold at most ${MAX_MESSAGES} messages`);
  const last = messages.findLastIndex((message, index) => roleOf(message, index) === 'user');
  // The ones before the last user message have a form to keep, too.
  messages.slice(0, Math.max(0, last)).forEach(roleOf);
  if (last === -1) throw unprocessable('messages', 'must hold a message whose role is user');
  const message = readObject(messages[last], `messages[${last}]`);
  return readContent(message['content'], { path: `messages[${last}].content`, readers, parts });
}

function roleOf(message: JsonValue, index: number): string {
  const path = `messages[${index}]`;
  return readString(readObject(message, path)['role'], `${path}.role`);
}

interface ContentPlace {
  readonly path: string;
  readonly readers: ReadonlyMap<string, BlockReader>;
  readonly parts: ContentParts;
}

async function readContent(content: JsonValue | undefined, place: ContentPlace): Promise<InputBlock[]> {
  const { path, parts } = place;
  if (typeof content !== 'string' && !Array.isArray(content))
    throw unprocessable(path, 'must be a string or an array of blocks');
  const blocks: InputBlock[] =
    typeof content === 'string'
      ? [{ type: 'text', text: await parts.text.read(content, path) }]
      : await readBlocks(content, place);
  const meaningful = blocks.filter((block) => block.type !== 'text' || block.text !== '');
  if (meaningful.length === 0) throw unprocessable(path, 'must not be empty');
  return meaningful;
}

async function readBlocks(
  content: readonly JsonValue[],
  { path, readers, parts }: ContentPlace,
): Promise<InputBlock[]> {
  if (content.length > MAX_BLOCKS) throw unprocessable(path, `must hold at most ${MAX_BLOCKS} blocks`);
  const attachments = content.filter((block) => typeOf(block) !== 'text').length;
  if (attachments > MAX_ATTACHMENTS) throw unprocessable(path, `must hold at most ${MAX_ATTACHMENTS} attachments`);
  const blocks: InputBlock[] = [];
  for (const [index, value] of content.entries()) {
    const blockPath = `${path}[${index}]`;
    const block = readObject(value, blockPath);
    const read = readers.get(readString(block['type'], `${blockPath}.type`));
    if (read === undefined)
      throw unprocessable(`${blockPath}.type`, `must be one of ${[...readers.keys()].join(', ')}`);
    blocks.push(await read(block, blockPath, parts));
  }
  return blocks;
}

function typeOf(block: JsonValue): JsonValue | undefined {
  return typeof block === 'object' && block !== null && !Array.isArray(block) ? block['type'] : undefined;
}
