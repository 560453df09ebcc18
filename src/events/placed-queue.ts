// Hands committed events on in their order, each commit's once it is known whose they are.
import type { Placed, Places } from './places.ts';

export interface PlacedQueueParts<E> {
  readonly places: Places;
  placeOf(event: E): Placed;
  /** Takes events whose places are known. */
  publish(events: readonly E[]): void;
  /** Whose events are could not be looked up: they are lost to those who watch. */
  failed(error: unknown): void;
}

/** Makes the queue; what it returns takes the events of one commit. Most of them it hands on at once. */
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
