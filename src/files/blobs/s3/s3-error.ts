// Why a bucket did not do what it was asked: in words for administrators, without any secret.
import { ErrandError } from '../../../domain/errors.ts';

export interface S3Facts {
  /** Of the reply; null without one. */
  readonly status: number | null;
  /** The service's own code, such as `SlowDown`; null without one. */
  readonly code: string | null;
  /** Whether the same request may succeed in a moment. */
  readonly isPassing: boolean;
  /** Not before. */
  readonly waitMs?: number;
  readonly cause?: unknown;
}

/** The message is one sentence. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly status: number | null;
  readonly code: string | null;
  readonly isPassing: boolean;
  readonly waitMs: number;

  constructor(message: string, { status, code, isPassing, waitMs = 0, cause }: S3Facts) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.isPassing = isPassing;
    this.waitMs = waitMs;
  }
}

/** For callers, who need not know of buckets: it can be retried, as after a full disk. */
export function storageAway(cause: unknown): ErrandError {
  return new ErrandError('unavailable', 'The storage of files cannot be reached, or refuses.', { cause });
}

/** Whether an error is of this kind. */
export function isStorageAway(error: unknown): boolean {
  return error instanceof ErrandError && error.cause instanceof S3Error;
}

/** Codes that a service has clients repeat, besides every status of 500 and above. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TooManyRequests',
  'OperationAborted',
  'BadDigest',
]);
/** Of status 500 and above, and will not pass within seconds. */
const LASTING_STATUS: ReadonlySet<number> = new Set([501, 505, 507]);

export const isPassing = (status: number, code: string | null): boolean =>
  PASSING_CODES.has(code ?? '') || status === 429 || (status >= 500 && !LASTING_STATUS.has(status));

const WRONG_KEY = 'the key in blobs.s3.key_file is not one of the service, or its secret is wrong';
const WRONG_REGION = 'the bucket is in another region: correct blobs.s3.region or blobs.s3.endpoint';
const FULL = 'the storage of the service is full, or the quota is used up';

/** What an administrator can do about a code. */
const REMEDIES: Readonly<Record<string, string>> = {
  AccessDenied: 'the key has no permission for it, or the bucket belongs to someone else',
  AllAccessDisabled: 'the service has closed the bucket',
  InvalidAccessKeyId: WRONG_KEY,
  SignatureDoesNotMatch: WRONG_KEY,
  NoSuchBucket: 'there is no such bucket: create it, or correct blobs.s3.bucket',
  PermanentRedirect: WRONG_REGION,
  AuthorizationHeaderMalformed: WRONG_REGION,
  IllegalLocationConstraintException: WRONG_REGION,
  QuotaExceeded: FULL,
  InsufficientCapacity: FULL,
  XMinioStorageFull: FULL,
  SlowDown: 'the service asks for fewer requests',
};

export interface Refused {
  readonly status: number;
  readonly code: string | null;
  /** What the request was to do, such as `put an object`. */
  readonly deed: string;
  /** Milliseconds by which the clock of the service is ahead; null when it doesn't say. */
  readonly aheadMs: number | null;
}

/** The sentence for a reply that is no success. */
export function wordsFor({ status, code, deed, aheadMs }: Refused): string {
  const said = code === null ? `status ${status}` : `${code}, status ${status}`;
  const refused = `The bucket refused to ${deed} (${said})`;
  if (code === 'RequestTimeTooSkewed') return `${refused}: ${skewWords(aheadMs)}.`;
  const remedy = REMEDIES[code ?? ''] ?? (status === 507 ? FULL : null);
  return remedy === null ? `${refused}.` : `${refused}: ${remedy}.`;
}

function skewWords(aheadMs: number | null): string {
  if (aheadMs === null) return 'the clock of this machine differs too much from that of the service';
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return `the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the service`;
}
