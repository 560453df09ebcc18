// Work that ends, for whoever waits for it, when a signal aborts.

/** The result of `promise`, unless the signal aborts first: then rejects with the signal's reason. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  // The loser of the race may still fail; its rejection is ignored.
  promise.catch(() => undefined);
  aborted.catch(() => undefined);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
