// `errand connectors`: the services that users connect to.
import type { Command } from 'commander';
import { ABOUT, addReading, names, type Noun } from './definitions.ts';
import type { Io } from './io.ts';
import { field } from './output.ts';

const CONNECTORS: Noun<'connectors'> = {
  noun: 'connectors',
  one: 'connector',
  inAList: [field('name'), field('base_url'), { name: 'auth', value: ({ auth }) => auth.kind }, ...ABOUT],
  alone: [
    field('name'),
    field('base_url'),
    { name: 'auth', value: ({ auth }) => auth.kind },
    names('methods'),
    names('paths'),
    ...ABOUT,
  ],
};

/** Adds the noun and its verbs. */
export function addConnectors(program: Command, io: Io): void {
  const connectors = program
    .command('connectors')
    .summary('services to connect to')
    .description('Services that users connect to: connectors.yaml in the config directory.');
  addReading(connectors, io, CONNECTORS);
}
