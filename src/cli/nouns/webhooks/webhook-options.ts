// The options that say what a webhook is told, and how patiently.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { SESSION_KINDS, type SessionKind } from '../../../domain/sessions/session.ts';
import { WEBHOOK_EVENT_TYPES, WEBHOOK_LIMITS, type WebhookEventType } from '../../../domain/webhooks/webhook.ts';
import { formatMilliseconds } from '../../../terminal/durations.ts';
import type { WebhookChangeWire } from '../../../wire/webhooks/webhook.ts';
import { durationIn, integerIn, NONE, notEmpty, oneOfEach, uuid } from '../../frame/arguments.ts';

export const ALL = 'all';

/** The options as commander reads them. */
export interface FieldOptions {
  readonly name?: string;
  /** Not `--url`, which is the daemon's address. */
  readonly to?: string;
  readonly event?: readonly WebhookEventType[];
  readonly sessionKind?: readonly SessionKind[];
  readonly project?: string;
  /** Milliseconds, like `backoff`. */
  readonly timeout?: number;
  readonly retries?: number;
  readonly backoff?: number;
  /** Earlier names of `sessionKind`, `timeout` and `backoff`. */
  readonly kind?: readonly SessionKind[];
  readonly timeoutMs?: number;
  readonly backoffMs?: number;
}

/** Reads `--event`, which can be repeated. */
export const eventTypes = oneOfEach(WEBHOOK_EVENT_TYPES, ALL);

const kinds = oneOfEach(SESSION_KINDS, ALL);

function projectOrNone(text: string): string {
  return text === NONE ? text : uuid(text);
}

/** The id of a webhook or a delivery. */
export function numberId(text: string): number {
  const id = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (id === 0) throw new InvalidArgumentError('It must be a number from 1.');
  return id;
}

/** Adds the options that `create` and `set` share. */
export function addFieldOptions(command: Command): Command {
  const { timeoutMs, retryCount, retryBackoffMs } = WEBHOOK_LIMITS;
  const limits = (of: Limits, format: (value: number) => string = String) =>
    `${format(of.from)} to ${format(of.to)} (default: ${format(of.default)})`;
  const [timeout, backoff] = [timeoutMs, retryBackoffMs].map((of) => limits(of, formatMilliseconds));
  return addEarlierNames(command)
    .option('--event <type>', 'send this event, or "all"; can be repeated', eventTypes)
    .option('--session-kind <kind>', `only of sessions of this kind, or "all"; can be repeated`, kinds)
    .option('--project <uuid>', 'only of sessions in this project; "none" for any', projectOrNone)
    .option('--timeout <duration>', `how long the receiver has to answer, ${timeout}`, durationIn(timeoutMs))
    .option('--retries <count>', `attempts after the first, ${limits(retryCount)}`, integerIn(retryCount))
    .option('--backoff <duration>', `the first pause, ${backoff}`, durationIn(retryBackoffMs));
}

interface Limits {
  readonly from: number;
  readonly to: number;
  readonly default: number;
}

/** Scripts use them. */
function addEarlierNames(command: Command): Command {
  const { timeoutMs, retryBackoffMs } = WEBHOOK_LIMITS;
  return command
    .addOption(new Option('--kind <kind>').argParser(kinds).conflicts('sessionKind').hideHelp())
    .addOption(new Option('--timeout-ms <ms>').argParser(integerIn(timeoutMs)).conflicts('timeout').hideHelp())
    .addOption(new Option('--backoff-ms <ms>').argParser(integerIn(retryBackoffMs)).conflicts('backoff').hideHelp());
}

/** Adds those that `set` has in addition: `create` takes both as arguments. */
export function addIdentityOptions(command: Command): Command {
  return command.option('--name <text>', 'its name', notEmpty).option('--to <url>', 'where it sends to', notEmpty);
}

/** What the given options ask for, without fields for other options. */
export function fieldsOf(options: FieldOptions): WebhookChangeWire {
  const { name, to, event, project, retries } = options;
  const kind = options.sessionKind ?? options.kind;
  const timeoutMs = options.timeout ?? options.timeoutMs;
  const backoffMs = options.backoff ?? options.backoffMs;
  return {
    ...(name !== undefined && { name }),
    ...(to !== undefined && { url: to }),
    ...(event !== undefined && { events: event }),
    ...(kind !== undefined && { session_kinds: kind.length === SESSION_KINDS.length ? null : kind }),
    ...(project !== undefined && scopeOf(project)),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(retries !== undefined && { retry_count: retries }),
    ...(backoffMs !== undefined && { retry_backoff_ms: backoffMs }),
  };
}

function scopeOf(project: string): Pick<WebhookChangeWire, 'scope' | 'project_id'> {
  return project === NONE ? { scope: 'global' } : { scope: 'project', project_id: project };
}
