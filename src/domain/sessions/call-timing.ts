// How long the parts of a model call took.

/** What a model is asked for: the next reply of a run's agent, the reply of one of its sub-agents, or a summary. */
export const CALL_PURPOSES = ['reply', 'agent', 'summary'] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];

/** How long one try took: until its first token, null when none came, and in all. */
export interface Pace {
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

/**
 * A model call as its worker measured it, in whole milliseconds. The pace is that of the last try; `retryWaitMs` is what the
 * failed ones before it took, with the pauses after them.
 */
export interface CallTiming extends Pace {
  /** Requests that were sent. */
  readonly tries: number;
  /** Waited for earlier steps to be recorded, for its budgets, for a permit of the endpoint, and for tries that failed. */
  readonly commitWaitMs: number;
  readonly budgetWaitMs: number;
  readonly permitWaitMs: number;
  readonly retryWaitMs: number;
}

/** One in the journal: earlier versions counted the wait for budgets as one for the permit. */
export type RecordedTiming = Omit<CallTiming, 'budgetWaitMs'> & Partial<Pick<CallTiming, 'budgetWaitMs'>>;
