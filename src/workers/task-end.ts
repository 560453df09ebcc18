// How a task of a thread or a process ends: with its result, or with a failure as data.

export type TaskFailure =
  /** It passed its deadline. On a busy machine, it says nothing of the task. */
  | { readonly kind: 'timeout' }
  /** It used all of its processor time. */
  | { readonly kind: 'out_of_time' }
  | { readonly kind: 'out_of_memory'; readonly error?: Error }
  /** It threw (then with the error), exited, or was ended because of another task. */
  | { readonly kind: 'crashed'; readonly error?: Error }
  /** What executes it ended before it was ready for any task, or the system refused it (then with the error). */
  | { readonly kind: 'not_started'; readonly error?: Error }
  /** The maximum of tasks is already in progress. */
  | { readonly kind: 'busy' }
  /** Its own signal aborted. */
  | { readonly kind: 'cancelled' }
  /** The host was stopped. */
  | { readonly kind: 'stopped' };

/** `cpuMs`: processor time that a process took for it. */
export type TaskEnd<T> = { readonly kind: 'done'; readonly value: T; readonly cpuMs?: number } | TaskFailure;

/** The failure that a thread's `error` event means. */
export function failureOf(error: NodeJS.ErrnoException): TaskFailure {
  return { kind: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out_of_memory' : 'crashed', error };
}
