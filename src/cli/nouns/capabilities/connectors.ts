// `errand connectors`: the services that users connect to.
import type { Command } from 'commander';
import type { ConnectorCheckWire } from '../../../wire/capabilities/connection.ts';
import type { DefinitionWire } from '../../../wire/capabilities/definition.ts';
import { CHECKS } from '../people/connections.ts';
import { act, type Context } from '../../frame/context.ts';
import { ABOUT, addDefinitions, names } from './definitions.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

const AUTH = column<DefinitionWire<'connectors'>>('auth', ({ auth }) => auth.kind, 4);

const ADDRESS: readonly Column<ConnectorCheckWire>[] = [
  field('connector'),
  field('status'),
  field('duration_ms'),
  field('error'),
];

/** Adds the noun and its verbs. */
export function addConnectors(program: Command, io: Io): void {
  const connectors = addDefinitions(program, io, 'connectors', {
    summary: 'services to connect to',
    description: 'Services that users connect to: connectors.yaml in the config directory.',
    one: 'connector',
    inAList: [field('name', 9), field('base_url', 6), AUTH, ...ABOUT],
    alone: [field('name'), field('base_url'), AUTH, names('methods'), names('paths'), ...ABOUT],
  });

  connectors
    .command('check <connector>')
    .description('Test the address of a connector, and each connection to it, as a run would use it.')
    .action(act(io, check));
}

async function check({ call, client, out }: Context, name: string): Promise<void> {
  const checked = await client().connections.checkConnector(name);
  if (out.format === 'json') out.json(checked);
  else {
    out.record(checked, ADDRESS, checked);
    if (checked.connections.length > 0) out.list(checked.connections, CHECKS, checked);
    else out.hint(`There are no connections. Create one with: ${call} connections create ${name} --user NAME`);
  }
  if (!checked.ok) throw new CommandError('checkFailed', checked.error ?? 'Not every connection works.');
}
