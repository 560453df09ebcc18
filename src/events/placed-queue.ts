// Passes committed events on in order, each commit's once their sessions and runs are known.
import type { Placed, Places } from './places.ts';

export interface PlacedQueueParts<E> {
  readonly places: Places;
  placeOf(event: E): Placed;
  /** Takes events whose places are known. */
  publish(events: readonly E[]): void;
  /** The places of events could not be looked up: the events are lost to watchers. */
  failed(error: unknown): void;
}

/** Makes the queue; the returned function takes the events of one commit. It passes most of them on at once. */
export function makePlacedQueue<E>({ places, placeOf, publish, failed }: PlacedQueueParts<E>) {
  /** What was committed during a look-up; null when there is none. */
  let waiting: E[] | null = null;

  async function publishLater(events: readonly E[]): Promise<void> {
    for (let next = events; next.length > 0; next = waiting!) {
      waiting = [];
      await places.lookUp(next.map(placeOf));
      publish(next);
    }
  }

  return (events: readonly E[]): void => {
    if (waiting !== null) waiting.push(...events);
    else if (events.every((event) => places.known(placeOf(event)) !== undefined)) publish(events);
    else
      void publishLater(events)
        .catch(failed)
        .finally(() => (waiting = null));
  };
}
