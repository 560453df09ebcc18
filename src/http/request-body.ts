// Reads a request's JSON body within limits, in the order in which refusals are promised.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import readRaw, { type RawBodyError } from 'raw-body';
import { ErrandError, unprocessable } from '../domain/errors.ts';
import { isJsonObject, type JsonObject, MAX_JSON_DEPTH, nestsDeeperThan } from '../domain/json.ts';

const MEGABYTE = 1024 * 1024;
const MAX_BODY_BYTES = 128 * MEGABYTE;
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i;

/** The largest body in bytes: four uploads as base64, and never more than 128 MB (A5). */
export function bodyLimit(maxUploadSizeMb: number): number {
  return Math.min(MAX_BODY_BYTES, Math.ceil((maxUploadSizeMb * MEGABYTE * 4 * 4) / 3));
}

/** `optional` bodies may be left out and then read as `{}`. */
export interface BodyRules {
  readonly limitBytes: number;
  readonly optional: boolean;
}

/**
 * The body as a JSON object. Throws `too_large`, `unsupported_media_type`, `bad_request` (not JSON) and `unprocessable`
 * (no object, or nested too deep), in this order (A1).
 */
export async function readJsonBody(req: IncomingMessage, res: ServerResponse, rules: BodyRules): Promise<JsonObject> {
  const declared = req.headers['content-length'];
  if (declared !== undefined && Number(declared) > rules.limitBytes) throw tooLarge(rules.limitBytes);
  const isEmpty = req.headers['transfer-encoding'] === undefined && (declared === undefined || Number(declared) === 0);
  if (isEmpty && rules.optional) return {};
  requireJsonType(req);
  if (isEmpty) throw new ErrandError('bad_request', 'The body is empty: a JSON object is required.');
  // The answer to `Expect: 100-continue` comes here, after everything that can be refused unread.
  if (req.headers.expect !== undefined) res.writeContinue();
  return parseObject(await readBytes(req, rules.limitBytes));
}

function requireJsonType({ headers }: IncomingMessage): void {
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    throw new ErrandError('unsupported_media_type', 'The Content-Type must be application/json in UTF-8.');
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new ErrandError('unsupported_media_type', 'The body must be sent without a Content-Encoding.');
}

async function readBytes(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  try {
    return await readRaw(req, { limit: limitBytes, length: req.headers['content-length'] ?? null });
  } catch (cause) {
    if ((cause as RawBodyError).type === 'entity.too.large') throw tooLarge(limitBytes);
    throw new ErrandError('bad_request', 'The body ended before it was complete.', { cause });
  }
}

function parseObject(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw new ErrandError('bad_request', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  if (nestsDeeperThan(text, MAX_JSON_DEPTH))
    throw unprocessable('body', `must not nest deeper than ${MAX_JSON_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ErrandError('bad_request', 'The body is not valid JSON.', { cause });
  }
  if (!isJsonObject(value)) throw unprocessable('body', 'must be a JSON object');
  return value;
}

function tooLarge(limitBytes: number): ErrandError {
  return new ErrandError('too_large', `The body is larger than ${limitBytes} bytes.`);
}
