// Identifiers: made here, recognised here.
import { randomFillSync, randomInt } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID version 7 (RFC 9562): time-ordered, so that indexes stay compact. Order of rows is by integer `seq`, never by this. */
export function newId(now: number = Date.now()): string {
  const bytes = nextRandom();
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const ID_BYTES = 16;
/** Asking the system for the random bytes of one id costs much more than the id. */
const pool = Buffer.alloc(ID_BYTES * 128);
let used = pool.length;

/** The next bytes of the pool, each of which is used once. */
function nextRandom(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.subarray(used - ID_BYTES, used);
}

/** Whether a text has the form of a UUID. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random letters and digits, about 6 bits each: for addresses that can't be guessed. */
export function randomCode(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}

/** The things whose id can be looked up by its start. */
export const ID_NOUNS = [
  'sessions',
  'runs',
  'user-inputs',
  'insights',
  'connections',
  'scheduled-tasks',
  'users',
  'teams',
  'budgets',
  'nodes',
] as const;
export type IdNoun = (typeof ID_NOUNS)[number];

const MIN_START = 4;
const ANY_UUID = '00000000-0000-0000-0000-000000000000';

/** Whether a text could be the start of a UUID, of at least 4 characters. */
export function isIdStart(text: string): boolean {
  return text.length >= MIN_START && isUuid(text + ANY_UUID.slice(text.length));
}

/** `msg_…`, the Messages protocol's id of a run's answer: stable per run (C1). */
export function messageIdOf(runId: string): string {
  return `msg_${runId.replaceAll('-', '')}`;
}

/** `resp_…`, the Responses protocol's id of a run (M3). */
export function responseIdOf(runId: string): string {
  return `resp_${runId.replaceAll('-', '')}`;
}

const RESPONSE_ID = /^resp_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;
const ITEM_ID = /^(?:msg|fc)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})(?:_\d+)?$/i;

/** The run's id in one of these, in lower case; null for a text of another form. */
export const runIdOfResponse = (text: string): string | null => runIdIn(text, RESPONSE_ID);

/** The run's id in that of an item of its output, in lower case; null for a text of another form. */
export const runIdOfItem = (text: string): string | null => runIdIn(text, ITEM_ID);

function runIdIn(text: string, form: RegExp): string | null {
  const parts = form.exec(text);
  return parts === null ? null : parts.slice(1).join('-').toLowerCase();
}

/** `toolu_…`, the Messages protocol's id of the call that a run answers with; of others, `call_…`. */
export function callIdOf(runId: string, start: 'toolu' | 'call' | 'fc'): string {
  return `${start}_${runId.replaceAll('-', '')}`;
}

/** `chatcmpl-…`, the chat protocol's id of a run's answer: stable per run (C1). */
export function completionIdOf(runId: string): string {
  return `chatcmpl-${runId.replaceAll('-', '')}`;
}
