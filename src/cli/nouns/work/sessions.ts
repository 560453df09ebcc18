// `errand sessions`: shows, stops and deletes anybody's conversations.
import type { Command } from 'commander';
import type { HistoryWire } from '../../../wire/sessions/history.ts';
import type { ForkWire, SessionWire, StopWire } from '../../../wire/sessions/session.ts';
import { idOrStart, notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { LIMIT, OF_USER } from '../../frame/list-options.ts';
import { addNoun, type OptionsFor, showing } from '../../frame/noun.ts';
import { option } from '../../frame/options.ts';
import { showWorkspace } from './artifacts.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';

const IN_A_LIST: readonly Column<SessionWire>[] = [
  field('session_id', 9),
  state('status', ({ status }) => status, 8),
  field('username', 6),
  field('key_id', 1),
  field('updated_at', 4),
  field('title', 7),
];

const ORIGIN: readonly Column<Pick<SessionWire, 'origin'>>[] = [
  column('origin_session', ({ origin }) => origin?.session_id),
  column('origin_run', ({ origin }) => origin?.run_id),
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
  ...ORIGIN,
];

const FORK: readonly Column<ForkWire>[] = [
  field('session_id'),
  state('status', ({ status }) => status),
  field('title'),
  ...ORIGIN,
  field('workspace'),
  field('created_at'),
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
  column('stopped_runs', ({ cancelled_runs: count }) => count),
  column('executor_stopped', ({ executor_cancelled: isStopped }) => isStopped),
];

const FILTERS = {
  user: OF_USER,
  key: option('--key <key>', 'only those of this API key, by id', notEmpty),
  ...LIMIT,
} satisfies OptionsFor<'sessions', 'list'>;

/** Adds the noun and its verbs. */
export function addSessions(program: Command, io: Io): void {
  const sessions = addNoun<SessionWire, string>(program, io, {
    name: 'sessions',
    summary: 'conversations',
    description: "All users' conversations. Reading one is logged.",
    one: { name: '<session>', help: 'its id, or the start of it', parse: idOrStart },
    show: showing(ALONE),
    plural: 'sessions',
  });

  sessions.list('List sessions, the newest first.', FILTERS, IN_A_LIST, (client, query) => client.sessions.list(query));
  sessions.show('Show one session.', (client, id) => client.sessions.get(id));
  sessions.on('messages', ABOUT_MESSAGES, {}, async ({ client, out }, id) => {
    const history = await client().sessions.messages(id);
    out.list(history.messages, MESSAGES, history);
  });
  sessions.on('artifacts', ABOUT_ARTIFACTS, DOWNLOAD, async (context, id, options) =>
    showWorkspace(context, async () => context.client().sessions.artifacts(id), options),
  );
  sessions.on('stop', 'Stop the running and waiting runs of a session. It can be continued.', {}, async (context, id) =>
    showStop(context, await context.client().sessions.stop(id)),
  );
  sessions.on('fork', ABOUT_FORK, AT, async ({ client, out }, id, { at }) => {
    const fork = await client().sessions.fork(id, at === undefined ? {} : { run_id: at });
    out.record(fork, FORK, fork);
    if (fork.workspace === 'as_it_is') out.hint(FILES_OF_NOW);
  });
  sessions.confirmed('delete', 'Stop a session, and delete it with its files permanently. Asks first.', {
    find: (client, id) => client.sessions.get(id),
    question: ({ title, username }) => `Delete session "${title}" of ${username} and its files?`,
    work: (client, { session_id: id }) => client.sessions.remove(id),
    show: ({ out }, deleted) => out.record(deleted, [field('id')], deleted),
  });
}

const ABOUT_MESSAGES = 'Show the history of a session: the start of each message. "-o json" shows all of it.';
const ABOUT_FORK =
  'Open a session that begins with the conversation of another one, up to a run of it, and with the files that it had then. The other one stays as it is.';
const AT = { at: option('--at <run>', 'the last run to begin with, by id: the newest that has ended', idOrStart) };
const FILES_OF_NOW = 'What files the session had after that run is not known: the fork has those of now.';
const ABOUT_ARTIFACTS = 'List the files in the workspace of a session as of the end of its last run.';
const DOWNLOAD = { download: option('--download <dir>', 'save them as a zip in this directory', notEmpty) };

/** Shows the result of a stop. */
export function showStop({ out }: Context, stop: StopWire): void {
  out.record(stop, STOP, stop);
  if (stop.stop_state === 'stopping') out.hint('The run has not confirmed the stop yet. Check again in a few seconds.');
}
