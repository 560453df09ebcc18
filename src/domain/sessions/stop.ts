// Stopping a session: its causes, its states, and the result for its caller (§3.3).
import type { SessionStatus } from './session.ts';

/** Why runs were stopped. */
export const STOP_CAUSES = ['user_requested_stop', 'operator_requested_stop', 'session_deleted'] as const;
export type StopCause = (typeof STOP_CAUSES)[number];

/** What is reported of the end of a stopped run, whoever stopped it (H12). */
export const STOPPED_MESSAGE = 'Stopped by the user.';

/**
 * `stopped`: this request stopped it. `stopping`: the executor has not confirmed yet. `already_stopped`: an earlier
 * request did. `not_running`: there was nothing to stop.
 */
export const STOP_STATES = ['stopped', 'stopping', 'already_stopped', 'not_running'] as const;
export type StopState = (typeof STOP_STATES)[number];

/** How long an executor has to confirm, and how long after that no new attempt is made (§8, E8). */
export const STOP_WINDOW_MS = 5_000;

/** What a stop did (§2.11). */
export interface StopResult {
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly stopState: StopState;
  readonly cause: StopCause;
  /** Queued and executing runs that this request ended. */
  readonly cancelledRuns: number;
  /** Questions to users that this request ended. */
  readonly expiredQuestions: number;
  /** Whether an executor was working and has confirmed, during this request, that it ended. */
  readonly executorCancelled: boolean;
}
