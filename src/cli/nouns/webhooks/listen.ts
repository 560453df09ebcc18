// `errand webhooks listen`: events as they come, forwarded to a receiver under development.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { messageOf } from '../../../domain/errors.ts';
import { safeLine } from '../../../terminal/text.ts';
import type { AttemptResult } from '../../../domain/webhooks/delivery.ts';
import type { WebhookEventWire } from '../../../wire/webhooks/event.ts';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { always, flag, type Given, option, perform } from '../../frame/options.ts';
import { replaceStateFile, stateDirectoryOf } from '../../frame/state-files.ts';
import { openForward } from './forward.ts';
import { readSecretFile } from './secret.ts';
import { eventTypes } from './webhook-options.ts';

const LISTEN = {
  forwardTo: option('--forward-to <url>', 'post each to this address, as the daemon would', notEmpty),
  event: option('--event <type>', 'only events of this type; can be repeated', eventTypes),
  system: flag('--system', "all users' events (the default on the control socket)"),
  name: always(option('--name <name>', 'the name under which the place is kept', listenerName), 'default'),
  body: flag('--body', 'also show the body of each event'),
  secretFile: option('--secret-file <file>', 'sign what is forwarded with the secret in this file', notEmpty),
};
type ListenOptions = Given<typeof LISTEN>;

/** Adds the verb. */
export function addListen(webhooks: Command, io: Io): void {
  perform(webhooks.command('listen'), io, LISTEN, hear)
    .description('Show events as they come, as a webhook would be sent them, until Ctrl-C.')
    .addHelpText('after', LISTEN_HELP);
}

const LISTEN_HELP = `
A name that is new begins with now. What came while nobody listened under a name comes first the next time.
With "-o json", every event is a JSON document on a line of its own.

Example:
  errand webhooks listen --forward-to http://localhost:8900/hook --secret-file secret.txt`;

function listenerName(text: string): string {
  if (/^[\w.-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be up to 64 letters, digits, and "._-".');
}

async function hear(context: Context, options: ListenOptions): Promise<void> {
  const { out, signal, client } = context;
  const { forwardTo, secretFile, event: types, system, name } = options;
  const secret = secretFile === undefined ? null : await readSecretFile(secretFile);
  const forward = forwardTo === undefined ? undefined : openForward(forwardTo, secret);
  const position = openPosition(context, name);
  const watch = {
    signal,
    onLost: () => out.hint('The daemon does not answer; trying again.'),
    onFound: () => out.hint('The daemon answers again.'),
  };
  const filters = { types, ownerScope: system && ('system' as const) };
  let isFirst = true;
  try {
    for await (const page of client().webhookEvents.listen(filters, position.afterId(), watch)) {
      if (isFirst) hintAtStart(context, options, { from: position.afterId(), to: page.next_after_id });
      isFirst = false;
      for (const event of page.items) {
        const result = await forward?.post(event, signal);
        // What was interrupted comes again the next time.
        signal.throwIfAborted();
        show(context, options, { event, result });
        position.move(event.id);
      }
      position.move(page.next_after_id);
    }
  } finally {
    forward?.close();
  }
}

/** Says what is heard, and from where on. */
function hintAtStart({ out }: Context, { name, forwardTo, secretFile }: ListenOptions, position: Span): void {
  const to = forwardTo === undefined ? '' : `, forwarding to ${forwardTo}`;
  const from = position.from === null ? 'now' : `event ${position.from}`;
  out.hint(`Listening as "${name}" from ${from} on${to}. Ctrl-C ends it.`);
  if (forwardTo !== undefined && secretFile === undefined) out.hint('Without --secret-file, nothing is signed.');
  if (position.from !== null && position.to < position.from)
    out.hint('The journal of the daemon ends before that: it may have been restored. Listening from its end on.');
}

interface Span {
  readonly from: number | null;
  readonly to: number;
}

interface Heard {
  readonly event: WebhookEventWire;
  /** Of forwarding it. */
  readonly result: AttemptResult | undefined;
}

function show({ out }: Context, { body }: ListenOptions, { event, result }: Heard): void {
  if (out.format === 'json') return out.text(`${JSON.stringify({ ...event, forwarded: forwardedOf(result) })}\n`);
  const { occurred_at: at, user, session, run } = JSON.parse(event.body) as Summary;
  const about = session?.session_id ?? run?.session_id ?? '';
  const answer = result === undefined ? '' : `  → ${answerOf(result)}`;
  out.text(`${safeLine(`${at}  ${event.event_type}  ${user.username}  ${about}${answer}`)}\n`);
  if (body === true) out.text(`${JSON.stringify(JSON.parse(event.body), null, 2)}\n`);
}

/** What a line shows of a body. */
interface Summary {
  readonly occurred_at: string;
  readonly user: { readonly username: string };
  readonly session?: { readonly session_id: string };
  readonly run?: { readonly session_id?: string };
}

function forwardedOf(result: AttemptResult | undefined): object | null {
  if (result === undefined) return null;
  return { status_code: result.statusCode, duration_ms: result.durationMs, error: result.error };
}

function answerOf({ statusCode, durationMs, error }: AttemptResult): string {
  return `${statusCode ?? 'no reply'} in ${durationMs} ms${error === null ? '' : `: ${error}`}`;
}

/** Where a listener is in the journal, kept in a file. */
interface Position {
  /** Null for a new name. */
  afterId(): number | null;
  move(afterId: number): void;
}

/** One file per name and daemon. Throws `failure` when it can't be read, rather than skip what it would have said. */
function openPosition({ io, locations }: Context, name: string): Position {
  const directory = stateDirectoryOf(io.environment);
  if (directory === undefined)
    throw new CommandError('failure', 'There is no directory for the place: set HOME or XDG_STATE_HOME.');
  const daemon = locations.url ?? path.resolve(locations.socketPath);
  const hash = createHash('sha256').update(daemon).digest('hex').slice(0, 12);
  const file = path.join(directory, 'listen', `${name}-${hash}.json`);
  let afterId = readPosition(file);
  return {
    afterId: () => afterId,
    move: (id) => {
      if (id === afterId) return;
      afterId = id;
      try {
        replaceStateFile(file, `${JSON.stringify({ daemon, after_id: id })}\n`);
      } catch (error) {
        throw new CommandError('failure', `The place can't be kept in ${file}: ${messageOf(error)}`);
      }
    },
  };
}

function readPosition(file: string): number | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandError('failure', `${file} can't be read: ${messageOf(error)}`);
  }
  const id = /"after_id":(\d{1,15})\}\n$/.exec(text)?.[1];
  if (id !== undefined) return Number(id);
  throw new CommandError('failure', `${file} is damaged.`, 'Remove it to begin with now.');
}
