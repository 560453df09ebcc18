// The verbs on webhooks, and on what they deliver.
import type { RenderBody } from '../../domain/webhooks/event-facts.ts';
import type { Database } from '../engine/database.ts';
import { makeClockJumps } from './clock-jumps.ts';
import { makeDeliveries } from './deliveries.ts';
import { makeDeliveryRecords } from './delivery-records.ts';
import type { Planning } from './planning.ts';
import { makePruneDeliveries } from './prune-deliveries.ts';
import { makeReadEvents } from './read-events.ts';
import { makeRecordAttempts } from './record-attempts.ts';
import { makeRedeliver } from './redeliver.ts';
import { makeTestFacts } from './test-facts.ts';
import { makeWebhookTrouble } from './webhook-trouble.ts';
import { makeWebhooks } from './webhooks.ts';

export function makeWebhookVerbs(database: Database, planning: Planning, renderBody: RenderBody) {
  const { plan, releaseHeld, listHeld, onPlanned } = planning;
  return {
    webhooks: { ...makeWebhooks(database, planning), trouble: makeWebhookTrouble(database) },
    deliveries: {
      plan,
      releaseHeld,
      listHeld,
      ...makeDeliveries(database),
      ...makeTestFacts(database),
      ...makeClockJumps(database),
      ...makeRecordAttempts(database),
      ...makeDeliveryRecords(database),
      ...makeRedeliver(database),
      ...makePruneDeliveries(database),
      readEvents: makeReadEvents(database, renderBody),
    },
    onPlanned,
  };
}
