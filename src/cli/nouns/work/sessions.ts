// `errand sessions`: shows, stops and deletes anybody's conversations.
import { Argument, type Command } from 'commander';
import type { HistoryWire } from '../../../wire/sessions/history.ts';
import type { SessionWire, StopWire } from '../../../wire/sessions/session.ts';
import { OF_USER, ROW_LIMIT, notEmpty, idOrStart } from '../../frame/arguments.ts';
import { type DownloadOptions, showWorkspace } from './artifacts.ts';
import { act, type Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';

const ID = new Argument('<session>', 'its id, or the start of it').argParser(idOrStart);

const IN_A_LIST: readonly Column<SessionWire>[] = [
  field('session_id', 9),
  state('status', ({ status }) => status, 8),
  field('username', 6),
  field('key_id', 1),
  field('updated_at', 4),
  field('title', 7),
];

const ALONE: readonly Column<SessionWire>[] = [
  ...IN_A_LIST,
  field('kind'),
  field('user_id'),
  field('project_id'),
  field('created_at'),
  column('stop_requested_at', ({ stop }) => stop?.requested_at),
  column('stop_confirmed_at', ({ stop }) => stop?.confirmed_at),
  column('termination_reason', ({ stop }) => stop?.termination_reason),
];

const MESSAGES: readonly Column<HistoryWire['messages'][number]>[] = [
  field('id', 8),
  field('role', 9),
  column('attachments', ({ attachments }) => attachments.length, 3),
  field('text_preview', 7),
];

const STOP: readonly Column<StopWire>[] = [
  field('session_id'),
  state('status', ({ status }) => status),
  field('stop_state'),
  field('cancelled_runs'),
  field('executor_cancelled'),
];

/** Adds the noun and its verbs. */
export function addSessions(program: Command, io: Io): void {
  const sessions = program
    .command('sessions')
    .summary('conversations')
    .description("All users' conversations. Reading one is logged.");

  sessions
    .command('list')
    .description('List sessions, the newest first.')
    .addOption(OF_USER)
    .option('--key <key>', 'only those of this API key, by id', notEmpty)
    .addOption(ROW_LIMIT)
    .action(act(io, list));

  sessions
    .command('show')
    .addArgument(ID)
    .description('Show one session.')
    .action(
      act(io, async ({ client, out }, id: string) => {
        const session = await client().sessions.get(id);
        out.record(session, ALONE, session);
      }),
    );

  sessions
    .command('messages')
    .addArgument(ID)
    .description('Show the history of a session: the start of each message. "-o json" shows all of it.')
    .action(
      act(io, async ({ client, out }, id: string) => {
        const history = await client().sessions.messages(id);
        out.list(history.messages, MESSAGES, history);
      }),
    );

  sessions
    .command('artifacts')
    .addArgument(ID)
    .description('List the files in the workspace of a session as of the end of its last run.')
    .option('--download <dir>', 'save them as a zip in this directory', notEmpty)
    .action(
      act(io, async (context, id: string, options: DownloadOptions) =>
        showWorkspace(context, async () => context.client().sessions.artifacts(id), options),
      ),
    );

  sessions
    .command('stop')
    .addArgument(ID)
    .description('Stop the running and waiting runs of a session. It can be continued.')
    .action(act(io, async (context, id: string) => showStop(context, await context.client().sessions.stop(id))));

  sessions
    .command('delete')
    .addArgument(ID)
    .description('Stop a session, and delete it with its files permanently. Asks first.')
    .action(act(io, remove));
}

interface ListOptions {
  readonly user?: string;
  readonly key?: string;
  readonly limit?: number;
}

async function list({ client, out }: Context, { user, key, limit }: ListOptions): Promise<void> {
  const found = await client().sessions.list({ user, key, limit });
  out.page(found, IN_A_LIST, 'sessions');
}

async function remove(context: Context, id: string): Promise<void> {
  const { sessions } = context.client();
  const session = await sessions.get(id);
  await confirm(context, async () => `Delete session "${session.title}" of ${session.username} and its files?`);
  const deleted = await sessions.remove(session.session_id);
  context.out.record(deleted, [field('id')], deleted);
}

/** Shows the result of a stop. */
export function showStop({ out }: Context, stop: StopWire): void {
  out.record(stop, STOP, stop);
  if (stop.stop_state === 'stopping') out.hint('The run has not confirmed the stop yet. Check again in a few seconds.');
}
