// How an order to a thread ends: with its result, or with a failure as data.

export type ThreadFailure =
  /** It passed its deadline or its CPU time. */
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out_of_memory'; readonly error?: Error }
  /** The thread threw (then with the error), exited, or was ended because of another order. */
  | { readonly kind: 'crashed'; readonly error?: Error }
  /** The thread ended before it was ready for any order, or the system refused it (then with the error). */
  | { readonly kind: 'not_started'; readonly error?: Error }
  /** The maximum of orders is already in progress. */
  | { readonly kind: 'busy' }
  /** Its own signal aborted. */
  | { readonly kind: 'cancelled' }
  /** The host was stopped. */
  | { readonly kind: 'stopped' };

export type ThreadEnd<T> = { readonly kind: 'done'; readonly value: T } | ThreadFailure;

/** The failure that a thread's `error` event means. */
export function failureOf(error: NodeJS.ErrnoException): ThreadFailure {
  return { kind: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out_of_memory' : 'crashed', error };
}
