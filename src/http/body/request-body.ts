// Reads a request's JSON body within limits, with refusals in the promised order.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { KB, MB } from '../../domain/byte-units.ts';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError, unprocessable } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import type { Pause } from '../../domain/loop/slices.ts';
import type { OpenSpool } from '../../files/blobs/spool.ts';
import { chunksOf } from './body-chunks.ts';
import type { BodyShare } from './body-budget.ts';
import { makeJsonScan, malformed, tooMuchText } from './json-scan.ts';
import { type SpooledStrings, makeStringSpooler, NO_SPOOLED_STRINGS, type StringSpooler } from './spooled-strings.ts';
import { makeUtf8Guard } from './utf8-guard.ts';

const MAX_BODY_BYTES = 128 * MB;
/** Longer strings of a turn go to a file: attachments, and texts that may never be read. */
const LONG_BYTES = 64 * KB;
const FIRST_ROOM_BYTES = 16 * KB;
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i;

/** The largest body in bytes: four uploads as base64, and never more than 128 MB (A5). */
export function bodyLimit(maxUploadSizeMb: number): number {
  return Math.min(MAX_BODY_BYTES, Math.ceil((maxUploadSizeMb * MB * 4 * 4) / 3));
}

export interface BodyRules {
  readonly limitBytes: number;
  /** Limit of the JSON text without its long strings: this much is parsed at once. */
  readonly limitParsedBytes: number;
  readonly maxNodes: number;
  /** The body may be omitted, and then reads as `{}`. */
  readonly optional: boolean;
  /** Whether long strings are stored in a file. Otherwise they are held, and count as parsed. */
  readonly lays: boolean;
}

export interface BodyParts {
  readonly rules: BodyRules;
  readonly share: BodyShare;
  readonly openSpool: OpenSpool;
  readonly clock: Clock;
  /** Awaited before each further chunk of a body, before it is parsed, and after each chunk of a long string that is read. */
  readonly pause: Pause;
}

/** A body that was read. */
export interface RequestBody {
  readonly value: JsonObject;
  readonly spooled: SpooledStrings;
  /** Counts what is held for the request in addition to its body. Throws `unavailable` when there is no room for it. */
  takeRoom(bytes: number): void;
  /** Versions everything that the body takes, including its long strings. */
  release(): Promise<void>;
}

/**
 * The body as a JSON object. Throws `too_large`, `unsupported_media_type`, `unavailable` (too many bodies at once, or no disk),
 * `request_timeout`, `bad_request` (not JSON) and `unprocessable` (not an object, nested too deep, too many values): refusals
 * that do not depend on the body come first, the others as soon as they are detected (A1).
 */
export async function readJsonBody(req: IncomingMessage, res: ServerResponse, parts: BodyParts): Promise<RequestBody> {
  const { rules, share, openSpool, clock, pause } = parts;
  const declared = req.headers['content-length'];
  if (declared !== undefined && Number(declared) > rules.limitBytes) throw tooLarge(rules.limitBytes);
  const isEmpty = req.headers['transfer-encoding'] === undefined && (declared === undefined || Number(declared) === 0);
  if (isEmpty && rules.optional)
    return { value: {}, spooled: NO_SPOOLED_STRINGS, takeRoom: share.take, release: async () => share.release() };
  requireJsonType(req);
  if (isEmpty) throw new ErrandError('bad_request', 'The body is empty: a JSON object is required.');
  const spooler = makeStringSpooler(openSpool, pause);
  const release = async () => {
    share.release();
    await spooler.close();
  };
  try {
    if (declared !== undefined) share.take(Number(declared));
    // The reply to `Expect: 100-continue` is sent here, after everything that can be refused unread.
    if (req.headers.expect !== undefined) res.writeContinue();
    const intake = { rules, spooler, pause, takeRoom: declared === undefined ? share.take : () => undefined };
    const text = await takeIn(chunksOf(req, clock), intake);
    await pause();
    return { value: parseObject(text), spooled: spooler, takeRoom: share.take, release };
  } catch (error) {
    await release();
    throw error;
  }
}

function requireJsonType({ headers }: IncomingMessage): void {
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    throw new ErrandError('unsupported_media_type', 'The Content-Type must be application/json in UTF-8.');
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new ErrandError('unsupported_media_type', 'The body must be sent without a Content-Encoding.');
}

interface Intake {
  readonly rules: BodyRules;
  readonly spooler: StringSpooler;
  readonly pause: Pause;
  /** Counts a chunk; does nothing when the whole body was counted already, since its length was declared. */
  takeRoom(bytes: number): void;
}

/** The JSON text without its long strings. Each chunk is scanned, and then held or written, before the next one. */
async function takeIn(
  chunks: ReturnType<typeof chunksOf>,
  { rules, spooler, pause, takeRoom }: Intake,
): Promise<string> {
  const maxTextBytes = Math.min(rules.limitBytes, rules.limitParsedBytes);
  const longBytes = rules.lays ? LONG_BYTES : Infinity;
  const scan = makeJsonScan({ maxNodes: rules.maxNodes, longBytes, maxTextBytes });
  const utf8 = makeUtf8Guard();
  const rest = makeRest(maxTextBytes);
  let received = 0;
  let isSpooling = false;
  const put = async (bytes: Buffer) => (isSpooling ? spooler.append(bytes) : rest.append(bytes));
  for await (const chunk of chunks) {
    if (received > 0) await pause();
    received += chunk.length;
    if (received > rules.limitBytes) throw tooLarge(rules.limitBytes);
    takeRoom(chunk.length);
    if (!utf8.take(chunk)) throw notUtf8();
    let from = 0;
    for (const mark of scan(chunk)) {
      await put(chunk.subarray(from, mark.at));
      from = mark.at;
      isSpooling = mark.kind === 'long';
      if (mark.kind === 'long') await spooler.append(rest.cut(mark.length));
      else rest.append(spooler.end());
    }
    await put(chunk.subarray(from));
  }
  if (!utf8.isWhole()) throw notUtf8();
  return rest.text();
}

/** A buffer that grows up to a limit. */
function makeRest(limitBytes: number) {
  let buffer = Buffer.allocUnsafe(FIRST_ROOM_BYTES);
  let length = 0;
  return {
    append: (bytes: Uint8Array): void => {
      const needed = length + bytes.length;
      if (needed > limitBytes) throw tooMuchText(limitBytes, 'body');
      if (needed > buffer.length) {
        const grown = Buffer.allocUnsafe(Math.min(Math.max(2 * buffer.length, needed), limitBytes));
        buffer.copy(grown, 0, 0, length);
        buffer = grown;
      }
      buffer.set(bytes, length);
      length = needed;
    },
    /** Removes the last bytes. */
    cut: (count: number): Buffer => {
      length -= count;
      return buffer.subarray(length, length + count);
    },
    text: (): string => buffer.toString('utf8', 0, length),
  };
}

function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed(cause);
  }
  if (!isJsonObject(value)) throw unprocessable('body', 'must be a JSON object');
  return value;
}

function notUtf8(): ErrandError {
  return new ErrandError('bad_request', 'The body is not valid UTF-8.');
}

function tooLarge(limitBytes: number): ErrandError {
  return new ErrandError('too_large', `The body is larger than ${limitBytes} bytes.`);
}
