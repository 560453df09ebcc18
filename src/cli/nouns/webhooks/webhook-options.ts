// The options that say what a webhook is told, and how patiently.
import { InvalidArgumentError } from 'commander';
import { SESSION_KINDS, type SessionKind } from '../../../domain/sessions/session.ts';
import { WEBHOOK_EVENT_TYPES, WEBHOOK_LIMITS } from '../../../domain/webhooks/webhook.ts';
import type { WebhookChangeWire } from '../../../wire/webhooks/webhook.ts';
import { durationIn, integerIn, notEmpty, oneOfEach, uuid } from '../../frame/arguments.ts';
import { formatMilliseconds } from '../../../terminal/durations.ts';
import { clearable, converted, option, type OptionsOf, withEarlier } from '../../frame/options.ts';

const ALL = 'all';

/** Reads `--event`, which can be repeated. */
export const eventTypes = oneOfEach(WEBHOOK_EVENT_TYPES, ALL);

const kinds = oneOfEach(SESSION_KINDS, ALL);
const allAsNull = (given: readonly SessionKind[]) => (given.length === SESSION_KINDS.length ? null : given);

/** The id of a webhook or a delivery. */
export function numberId(text: string): number {
  const id = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (id === 0) throw new InvalidArgumentError('It must be a number from 1.');
  return id;
}

interface Limits {
  readonly from: number;
  readonly to: number;
  readonly default: number;
}

const { timeoutMs, retryCount, retryBackoffMs } = WEBHOOK_LIMITS;
const limits = (of: Limits, format: (value: number) => string = String) =>
  `${format(of.from)} to ${format(of.to)} (default: ${format(of.default)})`;
const timeout = limits(timeoutMs, formatMilliseconds);
const backoff = limits(retryBackoffMs, formatMilliseconds);

type Scope = Pick<WebhookChangeWire, 'scope' | 'project_id'>;

/** Those that `create` and `set` share. */
export const WEBHOOK_FIELDS = {
  events: option('--event <type>', 'send this event, or "all"; can be repeated', eventTypes),
  session_kinds: converted(
    withEarlier(
      option('--session-kind <kind>', 'only of sessions of this kind, or "all"; can be repeated', kinds),
      option('--kind <kind>', '', kinds),
    ),
    allAsNull,
  ),
  project: converted(
    clearable('--project <uuid>', 'only of sessions in this project; "none" for any', uuid),
    (id): Scope => (id === null ? { scope: 'global' } : { scope: 'project', project_id: id }),
  ),
  timeout_ms: withEarlier(
    option('--timeout <duration>', `how long the receiver has to answer, ${timeout}`, durationIn(timeoutMs)),
    option('--timeout-ms <ms>', '', integerIn(timeoutMs)),
  ),
  retry_count: option('--retries <count>', `attempts after the first, ${limits(retryCount)}`, integerIn(retryCount)),
  retry_backoff_ms: withEarlier(
    option('--backoff <duration>', `the first pause, ${backoff}`, durationIn(retryBackoffMs)),
    option('--backoff-ms <ms>', '', integerIn(retryBackoffMs)),
  ),
} satisfies OptionsOf<WebhookChangeWire & { readonly project: Scope }>;

/** Those that `set` has in addition: `create` takes both as arguments. `--url` is the daemon's address. */
export const IDENTITY = {
  name: option('--name <text>', 'its name', notEmpty),
  url: option('--to <url>', 'where it sends to', notEmpty),
} satisfies OptionsOf<WebhookChangeWire>;
