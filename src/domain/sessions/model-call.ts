// How a call of a model ended, as operators count it.

/**
 * `rejected`: the endpoint replied that it does not serve this call. `throttled`: it is called too often, or overloaded.
 * `failed`: it failed, or its reply broke off or violates its protocol. `timeout`: it fell silent.
 */
const CALL_OUTCOMES = ['ok', 'rejected', 'throttled', 'failed', 'unreachable', 'timeout'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];
/** How a call ended that brought no reply. */
export type FailedCall = Exclude<CallOutcome, 'ok'>;

/** How a call of the ledger ended. `lost`: with its worker, or with the daemon. */
export const CALL_ENDINGS = ['ok', 'failed', 'stopped', 'lost'] as const;
export type CallEnding = (typeof CALL_ENDINGS)[number];
