// `errand webhooks test` and `trigger`: a test event, what the filters decided, and what the receiver answered.
import { Argument, type Command } from 'commander';
import { defined } from '../../../domain/defined.ts';
import type { FilteredReason } from '../../../domain/webhooks/webhook-filter.ts';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../../domain/webhooks/webhook.ts';
import type { AttemptResult } from '../../../domain/webhooks/delivery.ts';
import type { DeliveryRecordWire, WebhookTestResultWire } from '../../../wire/webhooks/delivery.ts';
import type { WebhookWire } from '../../../wire/webhooks/webhook.ts';
import { idOrStart } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { choice, flag, type Given, option, perform, required } from '../../frame/options.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { isAddress, openForward } from './forward.ts';
import { hintAtSignature, printRequest, requestDocument } from './print-request.ts';
import { readSecretFile, TO_SIGN } from './secret.ts';
import { numberId } from './webhook-options.ts';

/** What is sent and shown of a test event. */
const SENDING = {
  session: option(
    '--session <id>',
    'of this session, by its id or the start of it; otherwise of a made-up one',
    idOrStart,
  ),
  printRequest: flag('--print-request', 'print the exact bytes and headers, what was signed, and a line for curl'),
  ...TO_SIGN,
};

export const TEST = { event: required(choice('--event <type>', 'the event', WEBHOOK_EVENT_TYPES)), ...SENDING };

const target = (text: string) => (isAddress(text) ? text : numberId(text));
const TO = {
  to: option<string | number>(
    '--to <id or url>',
    'a webhook by its id, or an address; without it, the body is printed',
    target,
  ),
  ...SENDING,
};

/** Adds the verb. */
export function addTrigger(webhooks: Command, io: Io): void {
  const trigger = webhooks
    .command('trigger')
    .addArgument(new Argument('<type>', 'the event').choices(WEBHOOK_EVENT_TYPES))
    .description('Make a test event, and send it to a webhook or to any address that this machine can reach.');
  perform(trigger, io, TO, triggerEvent).addHelpText('after', TRIGGER_HELP);
}

const TRIGGER_HELP = `
Example:
  errand webhooks trigger session.failed --to http://localhost:8900/hook --secret-file secret.txt`;

interface Tested extends WebhookTestResultWire {
  readonly event_type: WebhookEventType;
  readonly url: string;
  /** Null when nothing was sent. */
  readonly delivery_id: number | null;
}

/** When it was held back. */
const HELD: readonly Column<Tested>[] = [
  { name: 'delivered', value: ({ delivered }) => delivered, style: ({ delivered }) => (delivered ? 'green' : 'red') },
  field('matched'),
  field('filtered_reason'),
  field('url'),
  column('session_id', (tested) => tested.tested_session_id),
  column('session_kind', (tested) => tested.tested_session_kind),
  column('project_id', (tested) => tested.tested_project_id),
];

/** When it was sent. */
const SENT: readonly Column<Tested>[] = [
  ...HELD.filter(({ name }) => name !== 'filtered_reason'),
  field('event_id'),
  field('delivery_id'),
  field('status_code'),
  field('duration_ms'),
  field('error'),
  field('response_excerpt'),
];

/** Sends it, and shows what came of it. Throws `checkFailed` unless it was delivered. */
export async function testWebhook(context: Context, id: number, options: Given<typeof TEST>): Promise<void> {
  const { webhooks, deliveries } = context.client();
  const { event, session, secretFile } = options;
  const secret = secretFile === undefined ? null : await readSecretFile(secretFile);
  const webhook = await webhooks.get(id);
  if (context.io.terminal.stderr) context.out.hint(`Sending ${event} to ${webhook.url}…`);
  const result = await webhooks.test(id, { event_type: event, ...defined({ session_id: session }) });
  const { event_id: eventId } = result;
  const found = eventId === null ? undefined : (await deliveries.list({ webhook_id: id, event_id: eventId })).items[0];
  const tested: Tested = { event_type: event, ...result, url: webhook.url, delivery_id: found?.id ?? null };
  const sent = found && (await deliveries.get(found.id));
  if (options.printRequest === true) showRequest(context, { tested, webhook, sent, secret });
  else context.out.record(tested, tested.matched ? SENT : HELD, tested);
  if (sent?.body != null && options.printRequest !== true && context.out.format !== 'json')
    context.out.text(`\n${sent.body}\n`);
  endOf(context, tested, webhook);
}

interface Showing {
  readonly tested: Tested;
  readonly webhook: WebhookWire;
  readonly sent: DeliveryRecordWire | undefined;
  readonly secret: string | null;
}

function showRequest(context: Context, { tested, webhook, sent, secret }: Showing): void {
  const { out } = context;
  const attempt = sent?.attempts.at(-1);
  if (sent === undefined || attempt === undefined || sent.body === null) return out.record(tested, HELD, tested);
  const at = Date.parse(attempt.at);
  const { event_type: eventType, event_id: eventId, body } = sent;
  const request = requestDocument({ url: webhook.url, eventType, eventId, body, at, secret });
  out.record(tested, SENT, { ...tested, request });
  if (out.format === 'json') return;
  printRequest(context, request);
  hintAtSignature(context, webhook, at, secret);
}

async function triggerEvent(context: Context, event: WebhookEventType, options: Given<typeof TO>): Promise<void> {
  const { out, client, signal } = context;
  const { to, session, secretFile, printRequest: prints } = options;
  if (typeof to === 'number') return testWebhook(context, to, { ...options, event });
  const secret = secretFile === undefined ? null : await readSecretFile(secretFile);
  const sample = await client().webhookEvents.sample(event, session);
  if (to === undefined) return out.format === 'json' ? out.json(sample) : out.text(`${sample.body}\n`);
  const forward = openForward(to, secret);
  const result = await forward.post(sample, signal).finally(forward.close);
  signal.throwIfAborted();
  const { at, error } = result;
  const request = requestDocument({
    url: to,
    eventType: event,
    eventId: sample.event_id,
    body: sample.body,
    at,
    secret,
  });
  const sent: Posted = { ...postedOf(result), url: to, event_id: sample.event_id };
  out.record(sent, POSTED, { ...sent, ...(prints && { request }) });
  if (prints && out.format !== 'json') printRequest(context, request);
  if (error !== null) throw new CommandError('checkFailed', out.format === 'json' ? '' : error);
}

interface Posted {
  readonly delivered: boolean;
  readonly url: string;
  readonly event_id: string;
  readonly status_code: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly response_excerpt: string | null;
}

function postedOf({ statusCode, durationMs, error, responseExcerpt }: AttemptResult): Omit<Posted, 'url' | 'event_id'> {
  return {
    delivered: error === null,
    status_code: statusCode,
    duration_ms: durationMs,
    error,
    response_excerpt: responseExcerpt,
  };
}

const POSTED: readonly Column<Posted>[] = [
  { name: 'delivered', value: ({ delivered }) => delivered, style: ({ delivered }) => (delivered ? 'green' : 'red') },
  field('url'),
  field('event_id'),
  field('status_code'),
  field('duration_ms'),
  field('error'),
  field('response_excerpt'),
];

/** Says why it was not delivered, and what to change. */
function endOf({ call, out }: Context, tested: Tested, webhook: WebhookWire): void {
  const { delivered, filtered_reason: reason, error } = tested;
  if (delivered) return;
  if (reason === null) throw new CommandError('checkFailed', error ?? 'The receiver did not accept it.');
  const { why, command } = HELD_BACK[reason](webhook, tested);
  if (out.format === 'json') throw new CommandError('checkFailed', '');
  throw new CommandError('checkFailed', `Nothing was sent: ${why}.`, `To change that: ${call} ${command}`);
}

interface Advice {
  readonly why: string;
  /** Without the name of the program. */
  readonly command: string;
}

/** What each filter says, and the command that lets the event pass. */
const HELD_BACK: Readonly<Record<FilteredReason, (webhook: WebhookWire, tested: Tested) => Advice>> = {
  disabled: ({ id, enabled, username }) =>
    enabled
      ? { why: `its owner ${username ?? ''} is disabled`, command: `users enable ${username ?? ''}` }
      : { why: 'the webhook is disabled', command: `webhooks enable ${id}` },
  event_type_filtered: ({ id, events }, { event_type: type }) => ({
    why: `the webhook does not subscribe to ${type}`,
    command: `webhooks set ${id} ${[...events, type].map((one) => `--event ${one}`).join(' ')}`,
  }),
  session_kind_filtered: ({ id, session_kinds: kinds }, { tested_session_kind: kind }) => ({
    why: `the session is of the kind ${kind}, which the webhook leaves out`,
    command: `webhooks set ${id} ${[...(kinds ?? []), kind].map((one) => `--session-kind ${one}`).join(' ')}`,
  }),
  session_project_missing: ({ id, project_id: project }) => ({
    why: `the webhook is for the project ${project}, and the session has none`,
    command: `webhooks set ${id} --project none`,
  }),
  project_mismatch: ({ id, project_id: project }, { tested_project_id: tested }) => ({
    why: `the webhook is for the project ${project}, and the session is in ${tested}`,
    command: `webhooks set ${id} --project ${tested}`,
  }),
};
