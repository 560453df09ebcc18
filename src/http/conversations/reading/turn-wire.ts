// Reads what the protocols' requests share: the session, and the last user message (§1).
import { unprocessable } from '../../../domain/errors.ts';
import type { InputBlock, TurnInput } from '../../../operations/turns/turn.ts';
import { MAX_ATTACHMENTS } from '../../../wire/conversations/content.ts';
import { messagesContent } from '../../../wire/messages/request.ts';
import type { Readable, Static } from '../../../wire/shapes/shape.ts';
import type { metadata, TurnMessages } from '../../../wire/conversations/turn.ts';
import { type Block, type ContentParts, readBlock } from './content-wire.ts';

/** A parsed request: the turn, and how its answer is wanted. */
export interface TurnRequest {
  readonly input: TurnInput;
  readonly stream: boolean;
  readonly ignored: readonly IgnoredPart[];
}

/** What clients may say in headers, for those that can't put it into the body. */
export interface TurnHeaders {
  /** `Idempotency-Key`; the body's field wins. */
  readonly idempotencyKey: string | null;
  /** `Errand-Session-Id`, which means the same as `metadata.session_id`. */
  readonly sessionId: string | null;
  /** `X-Session-Id`, which may be meant for others. */
  readonly offeredSession: string | null;
}

export const NO_HEADERS: TurnHeaders = { idempotencyKey: null, sessionId: null, offeredSession: null };

/** The session that the turn continues, or may continue. Throws `unprocessable` when body and header name two. */
export function sessionOf(
  named: Static<typeof metadata> | undefined,
  { sessionId, offeredSession }: TurnHeaders,
): Pick<TurnInput, 'sessionId' | 'offeredSession'> {
  const inBody = named?.session_id ?? null;
  if (inBody !== null && sessionId !== null && inBody !== sessionId)
    throw unprocessable('metadata.session_id', 'must name the same session as the header Errand-Session-Id');
  return { sessionId: inBody ?? sessionId, offeredSession };
}

/** Parts of a request that have no effect, though its client may count on them (M1, M4). */
export type IgnoredPart = 'history' | 'tools';

/** A message, or an item of Responses. */
interface Sent {
  readonly role?: string | null;
  readonly type?: string | null;
}

/**
 * Which of them a request has: messages before its last user's, and tools of its client but for one that it forces. What came of tools
 * after that message is of tools, too: where it stands for itself, as in Messages, it is the user's.
 */
export function ignoredIn(messages: readonly Sent[], unusedTools: number): IgnoredPart[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const hasResults = last !== -1 && messages.slice(last + 1).some(isResult);
  const hasHistory = messages.slice(0, Math.max(last, 0)).some(({ role }) => role === 'user' || role === 'assistant');
  return [
    ...(hasHistory ? (['history'] as const) : []),
    ...(unusedTools > 0 || hasResults ? (['tools'] as const) : []),
  ];
}

const isResult = ({ role, type }: Sent) => role === 'tool' || role === 'function' || type === 'function_call_output';

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

/** The blocks of a message whose content is at `path`. What came of tools is what the user says where nothing else is. */
export async function readContent(
  found: string | readonly Block[],
  path: string,
  parts: ContentParts,
): Promise<InputBlock[]> {
  const said = await readSaid(found, path, parts);
  if (said.length > 0) return said;
  if (typeof found === 'string') throw unprocessable(path, 'must not be empty');
  const results = await readToolResults(found, path, parts);
  if (results.length > 0) return results;
  const hasTools = found.some(({ type }) => type === 'tool_use' || type === 'tool_result');
  throw unprocessable(path, hasTools ? 'must say something, or have a tool_result that does' : 'must not be empty');
}

/** Without empty texts. */
async function readSaid(found: string | readonly Block[], path: string, parts: ContentParts): Promise<InputBlock[]> {
  const blocks: InputBlock[] =
    typeof found === 'string'
      ? [{ type: 'text', text: await parts.text.read(found, path) }]
      : await readBlocks(found, path, parts);
  return blocks.filter((block) => block.type !== 'text' || block.text !== '');
}

async function readToolResults(found: readonly Block[], path: string, parts: ContentParts): Promise<InputBlock[]> {
  const blocks: InputBlock[] = [];
  for (const [index, block] of found.entries()) {
    if (block.type !== 'tool_result' || block.content === undefined || block.content === null) continue;
    const place = `${path}[${index}].content`;
    blocks.push(...(await readSaid(messagesContent.read(block.content, place), place, parts)));
    requireFewAttachments(blocks, path);
  }
  return blocks;
}

/** One after the other: each counts what it holds. */
async function readBlocks(found: readonly Block[], path: string, parts: ContentParts): Promise<InputBlock[]> {
  const blocks: InputBlock[] = [];
  for (const [index, block] of found.entries()) {
    if (block.type === 'tool_use' || block.type === 'tool_result') continue;
    blocks.push(...(await readBlock(block, `${path}[${index}]`, parts)));
    requireFewAttachments(blocks, path);
  }
  return blocks;
}

/** One block may be several. */
function requireFewAttachments(blocks: readonly InputBlock[], path: string): void {
  const attachments = blocks.filter(({ type }) => type !== 'text').length;
  if (attachments > MAX_ATTACHMENTS) throw unprocessable(path, `must hold at most ${MAX_ATTACHMENTS} attachments`);
}
