// `errand deliveries`: what webhooks have sent and will send, with each attempt; and sending it again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, type Command, Option } from 'commander';
import type { RedeliveryWire as Redelivery } from '../../../wire/webhooks/delivery.ts';
import { DELIVERY_STATES, type DeliveryState } from '../../../domain/webhooks/delivery.ts';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../../domain/webhooks/webhook.ts';
import type { DeliveryRecordWire } from '../../../wire/webhooks/delivery.ts';
import { ROW_LIMIT, ROW_OFFSET, pastTime, uuid } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { ATTEMPTS, DELIVERIES, DELIVERY } from './columns.ts';
import { hintAtSignature, printRequest, requestDocument } from './print-request.ts';
import { addSecretFile, readSecretFile } from './secret.ts';
import { numberId } from './webhook-options.ts';

/** Adds the noun and its verbs. */
export function addDeliveries(program: Command, io: Io): void {
  const deliveries = program
    .command('deliveries')
    .summary('what webhooks sent')
    .description('What webhooks have sent and will send, with each attempt.');

  withFilters(deliveries.command('list').description('List deliveries, the newest first.'), io)
    .option('--webhook <id>', 'only those of this webhook', numberId)
    .action(act(io, list));

  const show = deliveries
    .command('show')
    .argument('<delivery>', 'its id', numberId)
    .description('Show one delivery with its attempts and its body. Reading it is logged.')
    .option('--body', 'print only the body, byte for byte')
    .option('--print-request', 'print the last attempt: its bytes and headers, what was signed, and a line for curl');
  addSecretFile(show, 'the secret of the webhook, to print the signatures').action(act(io, showOne));

  deliveries
    .command('redeliver')
    .argument('[delivery]', 'its id', numberId)
    .description('Deliver again: one attempt at once, with the same body.')
    .option('--webhook <id>', 'every delivery of this webhook; needs --since', numberId)
    .option('--since <time>', 'only those since this time, such as 24h', (text) => pastTime(text, io))
    .addOption(new Option('--state <state>', 'only those in this state (default: failed)').choices(ENDED))
    .option('--event-id <uuid>', 'every delivery of this event', uuid)
    .option('--wait', 'wait until the attempt has ended')
    .addHelpText('after', REDELIVER_HELP)
    .action(act(io, redeliver));
}

const ENDED = ['delivered', 'failed', 'canceled'] as const;

const REDELIVER_HELP = `
Examples:
  errand deliveries redeliver 41 --wait
  errand deliveries redeliver --webhook 3 --since 24h
  errand deliveries redeliver --event-id 0190f6a0-12ab-8000-8000-000000000001`;

/** Adds `webhooks deliveries`. */
export function addDeliveriesOfWebhook(webhooks: Command, io: Io): void {
  withFilters(
    webhooks
      .command('deliveries')
      .addArgument(new Argument('<webhook>', 'its id').argParser(numberId))
      .description('List the deliveries of a webhook, the newest first.'),
    io,
  ).action(act(io, async (context, webhook: number, filters: Filters) => list(context, { ...filters, webhook })));
}

interface Filters {
  readonly webhook?: number;
  readonly event?: WebhookEventType;
  readonly eventId?: string;
  readonly state?: DeliveryState;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
  readonly offset?: number;
}

function withFilters(command: Command, io: Io): Command {
  return command
    .addOption(new Option('--event <type>', 'only those of this type of event').choices(WEBHOOK_EVENT_TYPES))
    .option('--event-id <uuid>', 'only those of this event', uuid)
    .addOption(new Option('--state <state>', 'only those in this state').choices(DELIVERY_STATES))
    .option('--since <time>', 'only those since this time: a date, a time, or how long ago, such as 24h', (text) =>
      pastTime(text, io),
    )
    .option('--until <time>', 'only those before this time', (text) => pastTime(text, io))
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET);
}

async function list({ client, out }: Context, filters: Filters): Promise<void> {
  const { webhook, event, eventId, state, since, until, limit, offset } = filters;
  const names = { webhook_id: webhook, event_type: event, event_id: eventId, state, since, until, limit, offset };
  const found = await client().deliveries.list(names);
  out.page(found, DELIVERIES, 'deliveries');
}

interface ShowOptions {
  readonly body?: true;
  readonly printRequest?: true;
  readonly secretFile?: string;
}

async function showOne(context: Context, id: number, options: ShowOptions): Promise<void> {
  const { out, client, io } = context;
  const { deliveries, webhooks } = client();
  const secret = options.secretFile === undefined ? null : await readSecretFile(options.secretFile);
  const delivery = await deliveries.get(id);
  const { body, event_type: eventType, event_id: eventId } = delivery;
  if (options.body === true) {
    if (body === null) throw erased();
    return void io.stdout.write(body);
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

interface RedeliverOptions {
  readonly webhook?: number;
  readonly since?: string;
  readonly state?: Redelivery['state'];
  readonly eventId?: string;
  readonly wait?: true;
}

async function redeliver(context: Context, id: number | undefined, options: RedeliverOptions): Promise<void> {
  const { webhook, since, state, eventId } = options;
  const ways = [id, webhook, eventId].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw new CommandError('usage', 'Give one of DELIVERY, --webhook with --since, and --event-id.');
  if (id !== undefined) return redeliverOne(context, id, options.wait === true);
  if (eventId !== undefined) return redeliverEvent(context, eventId);
  if (since === undefined) throw new CommandError('usage', 'With --webhook, give --since.');
  const input = { webhook_id: webhook!, since, ...(state !== undefined && { state }) };
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
