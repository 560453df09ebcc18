// `errand connections`: the credentials that agents can use at services.
import { Argument, type Command } from 'commander';
import type { ConnectionCheckWire, ConnectionWire } from '../../../wire/capabilities/connection.ts';
import { OF_USER, notEmpty, idOrStart } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { confirm, readSecret } from '../../frame/standard-input.ts';

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

interface CreateOptions {
  readonly user: string;
  readonly name?: string;
  readonly secretStdin?: true;
}

/** Adds the noun and its verbs. */
export function addConnections(program: Command, io: Io): void {
  const connections = program
    .command('connections')
    .summary("users' connections to services")
    .description("Users' credentials for services. Agents use them without seeing them.");

  connections
    .command('list')
    .description('List connections, without their credentials.')
    .addOption(OF_USER)
    .action(
      act(io, async ({ client, out }, { user }: { readonly user?: string }) => {
        const list = await client().connections.list(user);
        out.list(list.items, COLUMNS, list);
      }),
    );

  connections
    .command('create <connector>')
    .description('Connect a user to a service of connectors.yaml.')
    .requiredOption('--user <user>', 'the owner of the credential, by name or id', notEmpty)
    .option('--name <text>', 'a name for the connection', notEmpty)
    .option('--secret-stdin', 'read the token or refresh token from standard input')
    .addHelpText('after', '\nExample:\n  errand connections create crm --user alice --secret-stdin < token.txt')
    .action(act(io, create));

  connections
    .command('check')
    .addArgument(new Argument('<connection>', 'its id, or the start of it').argParser(idOrStart))
    .description('Test a connection now, as a run would use it.')
    .action(
      act(io, async (context, id: string) => {
        const check = await context.client().connections.check(id);
        context.out.record(check, CHECKS, check);
        if (!check.ok) throw new CommandError('checkFailed', check.error ?? 'The connection does not work.');
      }),
    );

  connections
    .command('revoke')
    .addArgument(new Argument('<connection>', 'its id, or the start of it').argParser(idOrStart))
    .description('Revoke a connection and delete its credential permanently. Asks first.')
    .action(
      act(io, async (context, id: string) => {
        await confirm(context, async () => `Revoke connection ${id} and delete its credential?`);
        const revoked = await context.client().connections.revoke(id);
        context.out.record(revoked, COLUMNS, revoked);
      }),
    );
}

async function create(context: Context, connector: string, options: CreateOptions): Promise<void> {
  const secret = options.secretStdin === true ? await readSecret(context, '--secret-stdin') : undefined;
  const connection = await context.client().connections.create({
    connector,
    user: options.user,
    ...(options.name !== undefined && { name: options.name }),
    ...(secret !== undefined && { secret }),
  });
  context.out.record(connection, COLUMNS, connection);
  context.out.hint(`Make it available to agents with: ${context.call} keys set KEY --connections ${connection.id}`);
}
