// The meaning of a run without an answer for its caller, in each protocol.
import type { ErrorType } from '../../domain/errors.ts';
import type { Run, RunError, RunErrorType } from '../../domain/sessions/run.ts';
import type { ErrorFacts } from '../replies/render-error.ts';

/** The HTTP status and error type of each failure of a run (§7, D6). */
const FAILURES: Readonly<Record<RunErrorType, { readonly status: number; readonly type: ErrorType }>> = {
  queue_timeout_error: { status: 504, type: 'timeout_error' },
  timeout_error: { status: 504, type: 'timeout_error' },
  api_error: { status: 500, type: 'api_error' },
  structured_output_error: { status: 500, type: 'api_error' },
  interrupted_error: { status: 500, type: 'api_error' },
  budget_error: { status: 429, type: 'rate_limit_error' },
};

/** A stopped run conflicts with the request for its answer. */
export const STOPPED: ErrorFacts = { status: 409, type: 'invalid_request_error', message: 'The run was stopped.' };

/** The server ends its streams, while the run continues. */
export const RESTARTING: ErrorFacts = { status: 503, type: 'api_error', message: 'server restarting' };

/** What a failed run's error means to the caller. */
export function failureOf(error: RunError): ErrorFacts {
  return { ...FAILURES[error.type], message: error.message };
}

/** Why a terminal run has no answer, or null when it has one. */
export function failureOfRun(run: Run): ErrorFacts | null {
  if (run.status === 'completed') return null;
  if (run.status === 'canceled') return STOPPED;
  return failureOf(run.error ?? { type: 'api_error', message: 'The run failed.', retryable: false });
}
