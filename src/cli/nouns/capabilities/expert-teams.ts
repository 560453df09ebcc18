// `errand expert-teams`: experts that work together under a lead.
import type { Command } from 'commander';
import type { DefinitionWire } from '../../../wire/capabilities/definition.ts';
import { ABOUT, addDefinitions, names } from './definitions.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, field } from '../../../terminal/columns.ts';

const COLUMNS: readonly Column<DefinitionWire<'expert-teams'>>[] = [
  field('name'),
  field('lead'),
  names('members'),
  ...ABOUT,
];

/** Adds the noun and its verbs. */
export function addExpertTeams(program: Command, io: Io): void {
  addDefinitions(program, io, 'expert-teams', {
    summary: 'experts that work together',
    description: 'A lead and the members it delegates to: expert-teams/NAME.yaml in the config directory.',
    one: 'expert team',
    inAList: COLUMNS,
    alone: [...COLUMNS, field('instructions')],
    hasFiles: true,
  });
}
