// The one error of the client: why a call to the daemon returned no answer.

/**
 * What went wrong. `unreachable`: no connection could be made. `denied`: no permission to open the socket.
 * `refused`: an answer with an HTTP status of 300 or more. `failed`: the run failed after its stream began.
 * `lost`: the connection broke. `timeout`: no answer in time. `malformed`: the answer is not Errand's.
 */
export type ClientFailure =
  | { readonly kind: 'unreachable' | 'denied' | 'lost' | 'timeout' | 'malformed' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'failed'; readonly type: string };

/** Which conversation and request a failure belongs to, as far as the daemon reported it. */
export interface FailureTrace {
  readonly requestId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
}

/** Thrown by every verb of the client. The message is fit for an operator. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly failure: ClientFailure;
  readonly trace: FailureTrace;

  constructor(failure: ClientFailure, message: string, options: { cause?: unknown; trace?: FailureTrace } = {}) {
    super(message, { cause: options.cause });
    this.failure = failure;
    this.trace = options.trace ?? {};
  }
}

/** Whether an error is the client's, of one of the given kinds. */
export function isClientFailure(error: unknown, ...kinds: readonly ClientFailure['kind'][]): error is ClientError {
  return error instanceof ClientError && kinds.includes(error.failure.kind);
}

/** The HTTP status that a call was refused with; undefined for any other error. */
export function refusalStatusOf(error: unknown): number | undefined {
  return error instanceof ClientError && error.failure.kind === 'refused' ? error.failure.status : undefined;
}

const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([429, 502, 503]);

/** Whether an error can pass by itself, as while the daemon restarts. */
export function isTransient(error: unknown): boolean {
  if (isClientFailure(error, 'lost', 'unreachable')) return true;
  return isClientFailure(error, 'refused') && 'status' in error.failure && TRANSIENT_STATUSES.has(error.failure.status);
}

/** Whether what was under way was ended by its signal. */
export function isAborted(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
