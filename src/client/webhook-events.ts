// The client's verbs on events as webhooks would be sent them: heard as they come, or made up.
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnerScope, WebhookEventType } from '../domain/webhooks/webhook.ts';
import { type SampleEventWire, webhookEvents, type WebhookEventsWire } from '../wire/webhooks/event.ts';
import type { CallManagement } from './references.ts';
import { isClientFailure, isTransient } from './transport/client-error.ts';
import { type Complete, verbsOf } from './verbs.ts';

/** Which events: all types, and the caller's own (the operator's are everybody's), unless it says so. */
export interface ListenFilters {
  readonly types?: readonly WebhookEventType[] | undefined;
  readonly ownerScope?: OwnerScope | undefined;
}

export interface ListenOptions {
  readonly signal: AbortSignal;
  /** Called when the daemon does not answer for now. */
  onLost(): void;
  /** Called when it answers again. */
  onFound(): void;
}

export interface WebhookEvents {
  /**
   * Yields pages of events after an id, or of those from now on, until the signal; across restarts of the daemon. The first
   * page is there at once, and may be empty.
   */
  listen(
    filters: ListenFilters,
    afterId: number | null,
    options: ListenOptions,
  ): AsyncGenerator<WebhookEventsWire, void, undefined>;
  /** A test event that nobody is sent, made up or of a session. */
  sample(type: WebhookEventType, session?: string): Promise<SampleEventWire>;
}

const WAIT_SECONDS = 25;
/** Pauses before the next attempt; the last is repeated. */
const PAUSES_MS = [250, 500, 1_000, 2_000, 5_000];

export function makeWebhookEvents(call: CallManagement, complete: Complete): WebhookEvents {
  const verbs = verbsOf(webhookEvents, call, complete);
  const read = async ({ types, ownerScope }: ListenFilters, afterId: number | null, waitSeconds: number) =>
    verbs.listen({
      after_id: afterId ?? undefined,
      event_type: types?.join(','),
      owner_scope: ownerScope,
      wait_seconds: waitSeconds,
    });

  async function* listen(filters: ListenFilters, afterId: number | null, { signal, onLost, onFound }: ListenOptions) {
    let after = afterId;
    let isFirst = true;
    for (let failures = 0; ; ) {
      try {
        const page = await read(filters, after, isFirst ? 0 : WAIT_SECONDS);
        if (failures > 0) onFound();
        [after, isFirst, failures] = [page.next_after_id, false, 0];
        yield page;
      } catch (error) {
        if (signal.aborted || !(isTransient(error) || isClientFailure(error, 'timeout'))) throw error;
        if (failures === 0) onLost();
        await sleep(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)], undefined, { signal });
        failures += 1;
      }
    }
  }

  return { listen, sample: async (type, session) => verbs.sample({ event_type: type, session_id: session }) };
}
