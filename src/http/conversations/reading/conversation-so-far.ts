// What a request says of its conversation: its name, and what was said before (M1).
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import { LONG_TEXT } from '../../../domain/loop/own-turn.ts';
import { type ContinueBy, MAX_CLIENT_NAME } from '../../../domain/sessions/continued/continue-by.ts';
import {
  type Link,
  linkAfter,
  makeChains,
  NOTHING_SAID,
  nothingSaidUnder,
  type Resent,
  type Said,
} from '../../../domain/sessions/continued/history-chain.ts';
import { MOST_QUOTED } from '../../../domain/sessions/continued/quoted-history.ts';
import { isSideRequest } from '../../../domain/sessions/continued/side-requests.ts';
import { unprocessable } from '../../../domain/errors.ts';
import type { Conversation } from '../../../operations/turns/turn.ts';
import type { TurnMessages } from '../../../wire/conversations/turn.ts';
import type { SpooledStrings } from '../../body/spooled-strings.ts';

/** The part of a request that it reads. */
export interface ConversationRequest {
  readonly messages: TurnMessages;
  /** All that is in `metadata`. */
  readonly metadata: JsonObject;
  readonly headers: IncomingHttpHeaders;
}

export interface ReadingParts {
  readonly spooled: SpooledStrings;
  /** Characters of one message; nobody says more here. */
  readonly maxCharacters: number;
}

/** Throws `unprocessable` for a name that is too long. */
export async function readConversation(
  by: ContinueBy,
  request: ConversationRequest,
  parts: ReadingParts,
): Promise<Conversation> {
  if (by.by === 'never') return BESIDE;
  const name = 'field' in by ? nameOf(by, request, parts) : null;
  const last = request.messages.findLastIndex(({ role }) => role === 'user');
  const before = request.messages.slice(0, Math.max(last, 0));
  const begun = name === null ? [NOTHING_SAID] : [nothingSaidUnder(name), NOTHING_SAID];
  const { resent, links, earlier, first } = await readEarlier(begun, before, parts);
  const isAnswered = before.some(({ role }) => role === 'assistant');
  const text = (await textOf(request.messages[last]?.content, parts)) ?? '';
  return {
    name,
    resent,
    asked: links && linkAfter(links[0]!, { role: 'user', text }),
    earlier,
    isSideRequest: isSideRequest({ first: first ?? text, last: text, isAnswered }),
  };
}

/** What nobody comes back to. */
const BESIDE: Conversation = { name: null, resent: [], asked: null, earlier: [], isSideRequest: true };

/** What the client calls the conversation; null where it says nothing. */
function nameOf(
  { by, field }: Extract<ContinueBy, { field: string }>,
  { metadata, headers }: ConversationRequest,
  { spooled }: ReadingParts,
) {
  const found = by === 'header' ? headers[field] : metadata[field];
  if (typeof found !== 'string' || found === '') return null;
  // A very long one is a short stand-in here, another one each time.
  if (found.length > MAX_CLIENT_NAME || spooled.find(found) !== undefined)
    throw unprocessable(by === 'header' ? field : `metadata.${field}`, `must be at most ${MAX_CLIENT_NAME} characters`);
  return found;
}

interface Earlier {
  /** Of all of it; null where a message has more than can be read. */
  readonly links: readonly Link[] | null;
  readonly resent: readonly Resent[];
  /** The end of it: more than a quote of it has, where that is more. */
  readonly earlier: readonly Said[];
  /** What its first user message says; undefined without one. */
  readonly first: string | undefined;
}

/** How many beginnings are looked for, the longest ones: each takes a look-up where none is known. */
const MOST_BEGINNINGS = 8;
/** What the assistant said in one, in characters: with less, such as a greeting, conversations begin that have nothing in common. */
const LEAST_ANSWERED = 200;

/** Holds one text at a time, and what may be quoted. The loop turns in between. */
async function readEarlier(begun: readonly Link[], messages: TurnMessages, parts: ReadingParts): Promise<Earlier> {
  const chains = makeChains(begun);
  let isWhole = true;
  let [held, sinceTurn] = [0, 0];
  let first: string | undefined;
  const earlier: Said[] = [];
  const answered: { readonly links: readonly Link[]; readonly count: number }[] = [];
  let [count, isAnswer, characters] = [0, false, 0];
  for (const { role, content } of messages) {
    if (role !== 'user' && role !== 'assistant') continue;
    const text = await textOf(content, parts);
    const said = { role, text: text ?? '' } as const;
    if (role === 'user') first ??= said.text;
    if (role === 'user' && isAnswer && characters >= LEAST_ANSWERED) answered.push({ links: chains.links(), count });
    if (answered.length > MOST_BEGINNINGS) answered.shift();
    // One without text, such as a call alone, is none.
    isAnswer = role === 'assistant' && (isAnswer || said.text.trim() !== '');
    count += 1;
    if (role === 'assistant') characters += said.text.length;
    if (text === undefined) isWhole = false;
    else chains.add(said);
    earlier.push({ role, text: endOf(said.text) });
    held += earlier.at(-1)!.text.length;
    while (held - earlier[0]!.text.length > MOST_QUOTED) held -= earlier.shift()!.text.length;
    sinceTurn += said.text.length + 1_000;
    if (sinceTurn < LONG_TEXT) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  if (!isWhole) return { links: null, resent: [], earlier, first };
  const links = chains.links();
  // Under a name, what is not known as a whole was cut by its client.
  const beginnings = begun.length === 1 ? answered.toReversed() : [];
  const resent = [{ links, count }, ...beginnings]
    // What says nothing is no conversation's.
    .filter((one) => !one.links[0]!.equals(begun[0]!))
    .map((one) => ({ links: one.links, after: count - one.count }));
  return { links, resent, earlier, first };
}

/** What of a text may be quoted, as a copy: a slice would hold the whole. */
function endOf(text: string): string {
  return text.length <= MOST_QUOTED ? text : Buffer.from(text.slice(-MOST_QUOTED - 1)).toString();
}

/** All text of a message; undefined where that is more than can be read. */
async function textOf(content: JsonValue | undefined, parts: ReadingParts): Promise<string | undefined> {
  if (typeof content === 'string') return wholeOf(content, parts);
  let text = '';
  for (const block of Array.isArray(content) ? content : []) {
    const piece = (block as { readonly text?: JsonValue } | null)?.text;
    if (typeof piece !== 'string') continue;
    const whole = await wholeOf(piece, parts);
    if (whole === undefined || text.length + whole.length > parts.maxCharacters) return undefined;
    text += whole;
  }
  return text;
}

async function wholeOf(text: string, { spooled, maxCharacters }: ReadingParts): Promise<string | undefined> {
  const found = spooled.find(text);
  if (found === undefined) return text;
  let whole = '';
  for await (const piece of found.pieces()) {
    whole += piece;
    if (whole.length > maxCharacters) return undefined;
  }
  return whole;
}
