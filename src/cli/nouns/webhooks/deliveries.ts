// `errand deliveries`: what webhooks have sent and will send, with each attempt; and sending it again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { defined } from '../../../domain/defined.ts';
import { DELIVERY_STATES } from '../../../domain/webhooks/delivery.ts';
import { WEBHOOK_EVENT_TYPES } from '../../../domain/webhooks/webhook.ts';
import type { DeliveryRecordWire } from '../../../wire/webhooks/delivery.ts';
import { pastTime, uuid } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { PART } from '../../frame/list-options.ts';
import { addNoun, type OptionsFor } from '../../frame/noun.ts';
import { choice, flag, type Given, option, perform } from '../../frame/options.ts';
import { ATTEMPTS, DELIVERIES, DELIVERY } from './columns.ts';
import { hintAtSignature, printRequest, requestDocument } from './print-request.ts';
import { readSecretFile, TO_SIGN } from './secret.ts';
import { numberId } from './webhook-options.ts';

/** Which deliveries; times are relative to the clock of this machine. */
export const filtersOf = (io: Io) =>
  ({
    event_type: choice('--event <type>', 'only those of this type of event', WEBHOOK_EVENT_TYPES),
    event_id: option('--event-id <uuid>', 'only those of this event', uuid),
    state: choice('--state <state>', 'only those in this state', DELIVERY_STATES),
    since: option(
      '--since <time>',
      'only those since this time: a date, a time, or how long ago, such as 24h',
      (text) => pastTime(text, io),
    ),
    until: option('--until <time>', 'only those before this time', (text) => pastTime(text, io)),
    ...PART,
  }) satisfies OptionsFor<'deliveries', 'list'>;

const SHOW = {
  body: flag('--body', 'print only the body, byte for byte'),
  printRequest: flag(
    '--print-request',
    'print the last attempt: its bytes and headers, what was signed, and a line for curl',
  ),
  ...TO_SIGN,
};

const ENDED = ['delivered', 'failed', 'canceled'] as const;

const redeliveryOf = (io: Io) => ({
  webhook: option('--webhook <id>', 'every delivery of this webhook; needs --since', numberId),
  since: option('--since <time>', 'only those since this time, such as 24h', (text) => pastTime(text, io)),
  state: choice('--state <state>', 'only those in this state (default: failed)', ENDED),
  eventId: option('--event-id <uuid>', 'every delivery of this event', uuid),
  wait: flag('--wait', 'wait until the attempt has ended'),
});

/** Adds the noun and its verbs. */
export function addDeliveries(program: Command, io: Io): void {
  const deliveries = addNoun<DeliveryRecordWire, number>(program, io, {
    name: 'deliveries',
    summary: 'what webhooks sent',
    description: 'What webhooks have sent and will send, with each attempt.',
    one: { name: '<delivery>', help: 'its id', parse: numberId },
    show,
    plural: 'deliveries',
  });

  const filters = { ...filtersOf(io), webhook_id: option('--webhook <id>', 'only those of this webhook', numberId) };
  deliveries.list('List deliveries, the newest first.', filters, DELIVERIES, (client, { webhook_id, ...query }) =>
    client.deliveries.list({ webhook_id, ...query }),
  );
  deliveries.on('show', ABOUT_SHOW, SHOW, showOne);
  const again = deliveries.command.command('redeliver').argument('[delivery]', 'its id', numberId);
  perform(again, io, redeliveryOf(io), redeliver)
    .description('Deliver again: one attempt at once, with the same body.')
    .addHelpText('after', REDELIVER_HELP);
}

const ABOUT_SHOW = 'Show one delivery with its attempts and its body. Reading it is logged.';

const REDELIVER_HELP = `
Examples:
  errand deliveries redeliver 41 --wait
  errand deliveries redeliver --webhook 3 --since 24h
  errand deliveries redeliver --event-id 0190f6a0-12ab-8000-8000-000000000001`;

async function showOne(context: Context, id: number, options: Given<typeof SHOW>): Promise<void> {
  const { out, client, io } = context;
  const { deliveries, webhooks } = client();
  const secret = options.secretFile === undefined ? null : await readSecretFile(options.secretFile);
  const delivery = await deliveries.get(id);
  const { body, event_type: eventType, event_id: eventId } = delivery;
  if (options.body === true) {
    if (body === null) throw erased();
    // In a pipe, byte by byte what was signed.
    return void (io.terminal.stdout ? out.text(body) : io.stdout.write(body));
  }
  if (options.printRequest !== true) return show(context, delivery);
  const attempt = delivery.attempts.at(-1);
  if (attempt === undefined) throw new CommandError('conflict', 'No attempt has been made yet.');
  if (body === null) throw erased();
  const webhook = await webhooks.get(delivery.webhook_id);
  const at = Date.parse(attempt.at);
  const request = requestDocument({ url: webhook.url, eventType, eventId, body, at, secret });
  if (out.format === 'json') return out.json(request);
  printRequest(context, request);
  hintAtSignature(context, webhook, at, secret);
}

const erased = () => new CommandError('conflict', 'The delivery has no body any more: its session was deleted.');

function show({ out }: Context, delivery: DeliveryRecordWire): void {
  out.record(delivery, DELIVERY, delivery);
  if (out.format === 'json') return;
  if (delivery.attempts.length > 0) {
    out.text('\n');
    out.list(delivery.attempts, ATTEMPTS, delivery.attempts);
  }
  if (delivery.body !== null) out.text(`\n${delivery.body}\n`);
}

type Redelivery = Given<ReturnType<typeof redeliveryOf>>;

async function redeliver(context: Context, id: number | undefined, options: Redelivery): Promise<void> {
  const { webhook, since, state, eventId } = options;
  const ways = [id, webhook, eventId].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw new CommandError('usage', 'Give one of DELIVERY, --webhook with --since, and --event-id.');
  if (id !== undefined) return redeliverOne(context, id, options.wait === true);
  if (eventId !== undefined) return redeliverEvent(context, eventId);
  if (since === undefined) throw new CommandError('usage', 'With --webhook, give --since.');
  const input = { webhook_id: webhook!, since, ...defined({ state }) };
  showCount(context, await context.client().deliveries.redeliverMany(input));
}

function showCount({ out }: Context, { count }: { readonly count: number }): void {
  if (out.format === 'json') return out.json({ count });
  out.text(`${count} ${count === 1 ? 'delivery' : 'deliveries'} will be sent again.\n`);
}

const PAGE = 500;

async function redeliverEvent(context: Context, eventId: string): Promise<void> {
  const { deliveries } = context.client();
  const { items, total } = await deliveries.list({ event_id: eventId, limit: PAGE });
  if (total === 0) throw new CommandError('notFound', 'There is no delivery of this event.');
  let count = 0;
  for (const { id, state } of items) {
    if (state === 'pending') continue;
    await deliveries.redeliver(id);
    count += 1;
  }
  showCount(context, { count });
}

const POLL_MS = 500;

async function redeliverOne(context: Context, id: number, wait: boolean): Promise<void> {
  const { deliveries } = context.client();
  const { signal, out } = context;
  let delivery = await deliveries.redeliver(id);
  if (wait) out.hint(`Sending delivery ${id} again…`);
  while (wait && delivery.state === 'pending') {
    await sleep(POLL_MS, undefined, { signal });
    delivery = await deliveries.get(id);
  }
  show(context, delivery);
  if (wait && delivery.state !== 'delivered')
    throw new CommandError('checkFailed', delivery.last_error ?? `The delivery is ${delivery.state}.`);
}
