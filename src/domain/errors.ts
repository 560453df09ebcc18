// The one error class of Errand, and the one table that says what each reason means to a caller.

export type ErrorReason =
  | 'bad_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'request_timeout'
  | 'unsupported_media_type'
  | 'bad_range'
  | 'unprocessable'
  | 'rate_limited'
  | 'internal'
  | 'bad_gateway'
  | 'unavailable'
  | 'wait_timeout';

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'api_error';

interface ReasonFacts {
  readonly status: number;
  readonly type: ErrorType;
  /** Seconds for `Retry-After` when the error itself names none. */
  readonly retryAfterSeconds?: number;
}

/** Status, type and default `Retry-After` of every reason (§7, A3). */
export const REASONS: Readonly<Record<ErrorReason, ReasonFacts>> = {
  bad_request: { status: 400, type: 'invalid_request_error' },
  unauthenticated: { status: 401, type: 'authentication_error' },
  forbidden: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'not_found_error' },
  method_not_allowed: { status: 405, type: 'not_found_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'invalid_request_error' },
  too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  bad_range: { status: 416, type: 'invalid_request_error' },
  unprocessable: { status: 422, type: 'invalid_request_error' },
  rate_limited: { status: 429, type: 'rate_limit_error', retryAfterSeconds: 2 },
  internal: { status: 500, type: 'api_error' },
  bad_gateway: { status: 502, type: 'api_error' },
  unavailable: { status: 503, type: 'api_error', retryAfterSeconds: 5 },
  wait_timeout: { status: 504, type: 'timeout_error', retryAfterSeconds: 5 },
};

/** What an error may have in addition to its message. */
export interface ErrorDetails {
  /** Path of the request field at fault, such as `messages[0].content`. */
  readonly field?: string;
  /** Methods that a route supports, for `Allow`. */
  readonly allow?: readonly string[];
  /** Null: nobody knows when a retry may help, so there is no `Retry-After`. */
  readonly retryAfterSeconds?: number | null;
  /** True where a client that repeats by itself would do so in vain, or wait for hours. */
  readonly noRetry?: boolean;
  /** Size in bytes of the file that a range is outside of, for `Content-Range`. */
  readonly size?: number;
  /** Why something published is not there: its share has ended, or a readable share has no such file. */
  readonly why?: 'expired' | 'withdrawn' | 'file';
}

/** An expected refusal or failure, in words fit for the caller. Anything else that is thrown is a bug. */
export class ErrandError extends Error {
  override readonly name = 'ErrandError';
  readonly reason: ErrorReason;
  readonly details: ErrorDetails;

  constructor(reason: ErrorReason, message: string, options: { cause?: unknown; details?: ErrorDetails } = {}) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.details = options.details ?? {};
  }
}

/** A 422 that names the field by path and says what it must be (A4). */
export function unprocessable(field: string, mustBe: string): ErrandError {
  return new ErrandError('unprocessable', `${field}: ${mustBe}`, { details: { field } });
}

/** A 404 for a thing of the given kind. */
export function notFound(kind: string): ErrandError {
  return new ErrandError('not_found', `${kind} not found.`);
}

/** The message of anything thrown, for logs and for errors that operators read. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a failed system call, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
