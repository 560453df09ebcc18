// Deliveries of webhooks: listed, read, and made again (H11).
import type { Happened } from '../../events/wakes.ts';
import { ErrandError, unprocessable } from '../../domain/errors.ts';
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Delivery, DeliveryState } from '../../domain/webhooks/delivery.ts';
import type { WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Store } from '../../store/open-store.ts';
import { type DeliveryRecord, MAX_COUNTED_DELIVERIES } from '../../store/webhooks/delivery-records.ts';
import type { RedeliveryCursor, RedeliveryFilter } from '../../store/webhooks/redeliver.ts';
import { type Access, scopeOf } from '../access.ts';
import type { Audit, AuditTarget } from '../audit/audit.ts';

/** Null leaves a filter out. `since` and `until` are epoch ms. */
export interface DeliveryQuery extends Page {
  readonly webhookId: number | null;
  readonly eventId: string | null;
  readonly eventType: WebhookEventType | null;
  readonly state: DeliveryState | null;
  readonly since: number | null;
  readonly until: number | null;
}

export interface DeliveryOperationParts {
  readonly store: Pick<Store, 'deliveries'>;
  readonly access: Pick<Access, 'webhook' | 'delivery'>;
  readonly audit: Pick<Audit, 'read' | 'change'>;
  readonly happened: Happened;
}

/** The verbs. Those that take an id throw as `Access.webhook` and `Access.delivery` do. */
export function makeDeliveryOperations({ store, access, audit, happened }: DeliveryOperationParts) {
  /** A disabled webhook sends nothing, so nothing would come of it. */
  async function requireEnabled(caller: Caller, webhookId: number): Promise<void> {
    const { enabled } = await access.webhook(caller, webhookId);
    if (!enabled) throw new ErrandError('conflict', 'The webhook is disabled. Enable it, then deliver again.');
  }

  return {
    /** The deliveries within the caller's reach, the newest first, without bodies. Whoever looks for older ones narrows the time. */
    listDeliveries: async (caller: Caller, query: DeliveryQuery) => {
      if (query.offset > MAX_COUNTED_DELIVERIES)
        throw unprocessable('offset', `must be at most ${MAX_COUNTED_DELIVERIES}: narrow the time with until`);
      if (query.webhookId !== null) await access.webhook(caller, query.webhookId);
      return store.deliveries.list({ ...query, owner: scopeOf(caller).userSeq });
    },

    /** A delivery with its body and its attempts. */
    getDelivery: async (caller: Caller, id: number): Promise<DeliveryRecord> => {
      const found = await access.delivery(caller, id);
      const { sessionOwnerId: userId, userSeq } = found;
      // A system webhook reports what others do; without a session, a delivery shows what its webhook's receiver said.
      await audit.read(caller, 'delivery.read', {
        ...targetOf(found),
        ...(userId === null ? { userSeq } : { userId }),
      });
      return found;
    },

    /** One more attempt of a delivery at once, with the same body. Throws `conflict` when it can't be made. */
    redeliver: async (caller: Caller, id: number): Promise<DeliveryRecord> => {
      const found = await access.delivery(caller, id);
      await requireEnabled(caller, found.webhookId);
      const target = targetOf(found);
      const note = audit.change<boolean>(caller, 'delivery.redeliver', (done) => (done ? target : undefined));
      if (!(await store.deliveries.redeliver(id, note)))
        throw new ErrandError('conflict', 'The delivery has no body any more: its session was deleted.');
      happened('webhook changed');
      return access.delivery(caller, id);
    },

    /** The same for all that ended in a state since a moment; returns how many. */
    redeliverMany: async (caller: Caller, filter: RedeliveryFilter): Promise<{ readonly count: number }> => {
      await requireEnabled(caller, filter.webhookId);
      let count = 0;
      let last: RedeliveryCursor | null = null;
      do {
        const note = audit.change<{ readonly count: number }>(caller, 'webhook.redeliver', (some) =>
          some.count === 0 ? undefined : { id: String(filter.webhookId) },
        );
        const some = await store.deliveries.redeliverSome(filter, last, note);
        count += some.count;
        last = some.last;
        happened('webhook changed');
      } while (last !== null);
      return { count };
    },
  };
}

function targetOf({ id, sessionId }: Delivery): AuditTarget {
  return { id: String(id), ...(sessionId !== null && { sessionId }) };
}
