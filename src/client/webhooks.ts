// The client's verbs on webhooks and their deliveries.
import type { ListWire } from '../wire/listing.ts';
import type { Static } from '../wire/shape.ts';
import type {
  deliveryQuery,
  DeliveryRecordWire,
  DeliveryWire,
  redelivered,
  webhookTest,
  WebhookTestResultWire,
} from '../wire/webhooks/delivery.ts';
import type { NewWebhookWire, WebhookChangeWire, webhookQuery, WebhookWire } from '../wire/webhooks/webhook.ts';
import type { CallManagement, References } from './references.ts';
import { type Query, queryOf } from './transport/query.ts';

/** What to list; times are in ISO 8601. */
export type DeliveryFilters = Omit<Query<typeof deliveryQuery>, 'since' | 'until'> & {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
};

/** Which deliveries of a webhook to send again: those planned since a time in ISO 8601 that ended in a state; `failed` by default. */
export interface Redelivery {
  readonly webhook_id: number;
  readonly since: string;
  readonly state?: 'delivered' | 'failed' | 'canceled';
}

export interface Webhooks {
  list(query: Query<typeof webhookQuery>): Promise<ListWire<WebhookWire>>;
  get(id: number): Promise<WebhookWire>;
  create(input: NewWebhookWire): Promise<WebhookWire>;
  change(id: number, fields: WebhookChangeWire): Promise<WebhookWire>;
  remove(id: number): Promise<{ readonly id: number }>;
  test(id: number, input: Static<typeof webhookTest>): Promise<WebhookTestResultWire>;
}

export interface Deliveries {
  list(query: DeliveryFilters): Promise<ListWire<DeliveryWire>>;
  get(id: number): Promise<DeliveryRecordWire>;
  redeliver(id: number): Promise<DeliveryRecordWire>;
  redeliverMany(input: Redelivery): Promise<Static<typeof redelivered>>;
}

/** A test takes as long as the receiver may, which is at most 30 s (H1). */
const TEST_TIMEOUT_MS = 40_000;

export function makeWebhooks(call: CallManagement, { whole }: References): Webhooks {
  return {
    list: (query) => call('GET', `/webhooks${queryOf(query)}`),
    get: (id) => call('GET', `/webhooks/${id}`),
    create: async ({ user, ...input }) =>
      call('POST', '/webhooks', { ...input, ...(user !== undefined && { user: await whole('users', user) }) }),
    change: (id, fields) => call('PATCH', `/webhooks/${id}`, fields),
    remove: (id) => call('DELETE', `/webhooks/${id}`),
    test: async (id, { session_id: session, ...input }) =>
      call(
        'POST',
        `/webhooks/${id}/test`,
        { ...input, ...(session !== undefined && { session_id: await whole('sessions', session) }) },
        TEST_TIMEOUT_MS,
      ),
  };
}

export function makeDeliveries(call: CallManagement): Deliveries {
  return {
    list: (query) => call('GET', `/webhook-deliveries${queryOf(query)}`),
    get: (id) => call('GET', `/webhook-deliveries/${id}`),
    redeliver: (id) => call('POST', `/webhook-deliveries/${id}/redeliver`),
    redeliverMany: (input) => call('POST', '/webhook-deliveries/redeliver', input),
  };
}
