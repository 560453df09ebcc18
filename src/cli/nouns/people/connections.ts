// `errand connections`: the credentials that agents can use at services.
import type { Command } from 'commander';
import { defined } from '../../../domain/defined.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import type { ConnectionCheckWire, ConnectionWire } from '../../../wire/capabilities/connection.ts';
import { idOrStart, notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { OF_USER } from '../../frame/list-options.ts';
import { addNoun, showing } from '../../frame/noun.ts';
import { flag, type Given, option, perform, required } from '../../frame/options.ts';
import { readSecret } from '../../frame/standard-input.ts';

const COLUMNS: readonly Column<ConnectionWire>[] = [
  field('id', 9),
  field('connector', 7),
  field('name', 6),
  field('username', 5),
  state('state', (connection) => connection.state, 8),
  { ...field('last_error', 4), wraps: true },
];

/** The columns for checks of connections. */
export const CHECKS: readonly Column<ConnectionCheckWire>[] = [
  column('id', ({ connection }) => connection.id, 8),
  column('username', ({ connection }) => connection.username, 6),
  { name: 'ok', value: ({ ok }) => ok, style: ({ ok }) => (ok ? 'green' : 'red'), worth: 9 },
  field('status', 4),
  field('duration_ms', 2),
  { ...field('error', 7), wraps: true },
];

const NEW_CONNECTION = {
  user: required(option('--user <user>', 'the owner of the credential, by name or id', notEmpty)),
  name: option('--name <text>', 'a name for the connection', notEmpty),
  secretStdin: flag('--secret-stdin', 'read the token or refresh token from standard input'),
};

const show = showing(COLUMNS);

/** Adds the noun and its verbs. */
export function addConnections(program: Command, io: Io): void {
  const connections = addNoun<ConnectionWire, string>(program, io, {
    name: 'connections',
    summary: "users' connections to services",
    description: "Users' credentials for services. Agents use them without seeing them.",
    one: { name: '<connection>', help: 'its id, or the start of it', parse: idOrStart },
    show,
  });

  connections.list('List connections, without their credentials.', { user: OF_USER }, COLUMNS, (client, { user }) =>
    client.connections.list(user),
  );
  perform(connections.command.command('create <connector>'), io, NEW_CONNECTION, create)
    .description('Connect a user to a service of connectors.yaml.')
    .addHelpText('after', '\nExample:\n  errand connections create crm --user alice --secret-stdin < token.txt');
  connections.on('check', 'Test a connection now, as a run would use it.', {}, async ({ client, out }, id) => {
    const check = await client().connections.check(id);
    out.record(check, CHECKS, check);
    if (!check.ok) throw new CommandError('checkFailed', check.error ?? 'The connection does not work.');
  });
  connections.confirmed('revoke', 'Revoke a connection and delete its credential permanently. Asks first.', {
    find: async (_, id) => id,
    question: (id) => `Revoke connection ${id} and delete its credential?`,
    work: async (client, id) => client.connections.revoke(id),
    show,
  });
}

async function create(context: Context, connector: string, given: Given<typeof NEW_CONNECTION>): Promise<void> {
  const { secretStdin, ...fields } = given;
  const secret = secretStdin && (await readSecret(context, '--secret-stdin'));
  const connection = await context.client().connections.create({ connector, ...fields, ...defined({ secret }) });
  show(context, connection);
  context.out.hint(`Make it available to agents with: ${context.call} keys set KEY --connections ${connection.id}`);
}
