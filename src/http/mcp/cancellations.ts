// Requests in progress that a later message may cancel, as the protocol did before 2026-07-28.
import type { JsonObject } from '../../domain/json.ts';

/** Makes the table. `client` null: one that nothing tells from others of its key, which can cancel nothing. */
export function makeCancellations() {
  const inProgress = new Map<string, () => void>();
  const placeOf = (client: string, requestId: unknown) => `${client} ${JSON.stringify(requestId)}`;

  return {
    /** Calls `cancel` when the client cancels the request, until the returned function is called. */
    listen: (client: string | null, requestId: string | number, cancel: () => void): (() => void) => {
      if (client === null) return () => undefined;
      const place = placeOf(client, requestId);
      inProgress.set(place, cancel);
      return () => {
        if (inProgress.get(place) === cancel) inProgress.delete(place);
      };
    },

    /** Takes any message; one that cancels nothing in progress is passed over, as the protocol says. */
    take: (client: string | null, { method, params }: JsonObject): void => {
      if (client === null || method !== 'notifications/cancelled') return;
      inProgress.get(placeOf(client, (params as JsonObject | null | undefined)?.['requestId']))?.();
    },
  };
}
