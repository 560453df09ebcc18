// Fetches the images that a turn names by web address, before the turn is accepted (§4.3 rule 1).
import { extension } from 'mime-types';
import { MB } from '../../../domain/byte-units.ts';
import { ErrandError, type ErrorReason } from '../../../domain/errors.ts';
import type { Settings } from '../../../domain/settings.ts';
import { EgressError, type EgressFailure, type EgressPolicy } from '../../../outbound/egress.ts';
import { type GuardedReply, guardedFetch, mediaTypeOf } from '../../../outbound/guarded-fetch.ts';
import { imageFault } from './require-image.ts';
import type { Asking, InputBlock } from '../turn.ts';

const TIMEOUT_MS = 60_000;
const AT_ONCE = 4;
/**
 * Maximum total size of the images of one turn, as a multiple of the largest allowed image; a request's body has the same
 * limit (A5).
 */
const LARGEST_TOGETHER = 4;
const IMAGE_TYPE = /^image\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

type AddressBlock = Extract<InputBlock, { type: 'address' }>;
type Upload = Extract<InputBlock, { type: 'upload' }>;

export interface FetchParts {
  settings(): Settings;
  /** Fires when the daemon shuts down. */
  readonly ending: AbortSignal;
  /** How host names are resolved; by the system when absent. */
  readonly resolve?: EgressPolicy['resolve'];
  /** Timeout for all images of a turn together; 60 s when absent. */
  readonly timeoutMs?: number;
}

export interface Fetching extends Asking {
  readonly blocks: readonly AddressBlock[];
  /** Stores an image as soon as it is fetched, so that few are in memory at a time. */
  keep(block: AddressBlock, upload: Upload): Promise<void>;
}

/**
 * Makes the verb. When it settles, none of its requests continues. Throws `bad_request` for an address that can't be fetched
 * or isn't an image, `too_large` over the upload limit or the limit on all images, each naming the field; `unavailable` when
 * there is no room for them, or when the caller disconnects or the daemon shuts down. All bytes are counted before they are
 * held. The first failure ends the other requests.
 */
export function makeFetchImages({ settings, ending, resolve, timeoutMs: wholeMs = TIMEOUT_MS }: FetchParts) {
  return async ({ blocks, left, takeRoom, keep }: Fetching): Promise<void> => {
    const { egress, maxUploadSizeMb } = settings();
    const policy: EgressPolicy = { purpose: 'image', allow: egress.allow, ...(resolve && { resolve }) };
    const failed = new AbortController();
    const signal = AbortSignal.any([failed.signal, ending, ...(left === undefined ? [] : [left.signal])]);
    const until = performance.now() + wholeMs;
    const waiting = blocks.values();
    let total = 0;
    const fetchOne = async (block: AddressBlock): Promise<void> => {
      const timeoutMs = Math.max(1, Math.ceil(until - performance.now()));
      const received = (bytes: number) => {
        total += bytes;
        if (total > maxUploadSizeMb * MB * LARGEST_TOGETHER) throw tooMuch(block, maxUploadSizeMb);
        takeRoom(bytes);
      };
      await keep(block, await fetchImage(policy, block, { maxUploadSizeMb, timeoutMs, signal, received }));
    };
    const work = async (): Promise<void> => {
      for (const block of waiting) {
        if (signal.aborted) return;
        await fetchOne(block).catch((error: unknown) => failed.abort(error));
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, blocks.length) }, work));
    if (left?.isHalted === true) throw new ErrandError('unavailable', 'The client left.');
    if (ending.aborted) throw new ErrandError('unavailable', 'The server is restarting.');
    if (failed.signal.aborted) throw failed.signal.reason;
  };
}

interface Bounds {
  readonly maxUploadSizeMb: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly received: (bytes: number) => void;
}

async function fetchImage(policy: EgressPolicy, block: AddressBlock, bounds: Bounds): Promise<Upload> {
  const { timeoutMs, signal, maxUploadSizeMb, received } = bounds;
  const request = {
    url: block.url,
    headers: { accept: 'image/*' },
    timeoutMs,
    maxBytes: maxUploadSizeMb * MB,
    signal,
    received,
    acceptType: (mediaType: string) => IMAGE_TYPE.test(mediaType),
  };
  const reply = await guardedFetch(policy, request).catch((error: unknown) => {
    throw error instanceof EgressError ? refusalOf(block, error, maxUploadSizeMb) : error;
  });
  const { host } = new URL(reply.url);
  if (reply.status < 200 || reply.status > 299)
    throw about(block, 'bad_request', `the host ${host} answered with status ${reply.status}`);
  const mimeType = mediaTypeOf(reply.headers['content-type']);
  const bytes = Buffer.from(reply.body.buffer, reply.body.byteOffset, reply.body.byteLength);
  const fault = bytes.length === 0 ? 'must not be empty' : imageFault(bytes, mimeType);
  if (fault !== null) throw about(block, 'bad_request', fault);
  const name = block.name ?? nameOf(reply, mimeType);
  return { type: 'upload', media: 'image', name, mimeType, bytes: { size: bytes.length, pieces: () => [bytes] } };
}

const REASONS: Readonly<Partial<Record<EgressFailure, ErrorReason>>> = {
  too_large: 'too_large',
  canceled: 'unavailable',
};

function refusalOf(block: AddressBlock, error: EgressError, maxUploadSizeMb: number): ErrandError {
  const { kind, message } = error;
  const what = kind === 'too_large' ? `must be at most ${maxUploadSizeMb} MB` : `the image was not fetched: ${message}`;
  return about(block, REASONS[kind] ?? 'bad_request', what, error);
}

function tooMuch(block: AddressBlock, maxUploadSizeMb: number): ErrandError {
  const most = maxUploadSizeMb * LARGEST_TOGETHER;
  return about(block, 'too_large', `the images must have at most ${most} MB together`);
}

function about({ field }: AddressBlock, reason: ErrorReason, what: string, cause?: unknown): ErrandError {
  return new ErrandError(reason, `${field}: ${what}`, { cause, details: { field } });
}

/** The last segment of the final address, or `image` with the extension of its type. */
function nameOf({ url }: GuardedReply, mimeType: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  return decoded(last) || `image.${extension(mimeType) || 'bin'}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
