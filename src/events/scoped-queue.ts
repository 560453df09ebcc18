// Passes committed events on in order, each commit's once their sessions and runs are known.
import type { EventScopes, ScopeSeqs } from './event-scopes.ts';

export interface ScopedQueueParts<E> {
  readonly scopes: EventScopes;
  scopeOf(event: E): ScopeSeqs;
  /** Takes events whose scopes are known. */
  publish(events: readonly E[]): void;
  /** The scopes of events could not be looked up: the events are lost to watchers. */
  failed(error: unknown): void;
}

/** Makes the queue; the returned function takes the events of one commit. It passes most of them on at once. */
export function makeScopedQueue<E>({ scopes, scopeOf, publish, failed }: ScopedQueueParts<E>) {
  /** What was committed during a look-up; null when there is none. */
  let waiting: E[] | null = null;

  async function publishLater(events: readonly E[]): Promise<void> {
    for (let next = events; next.length > 0; next = waiting!) {
      waiting = [];
      await scopes.lookUp(next.map(scopeOf));
      publish(next);
    }
  }

  return (events: readonly E[]): void => {
    if (waiting !== null) waiting.push(...events);
    else if (events.every((event) => scopes.known(scopeOf(event)) !== undefined)) publish(events);
    else
      void publishLater(events)
        .catch(failed)
        .finally(() => (waiting = null));
  };
}
