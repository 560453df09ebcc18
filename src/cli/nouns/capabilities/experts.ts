// `errand experts`: agents with instructions and capabilities of their own.
import type { Command } from 'commander';
import { ABOUT, addDefinitions, NAME, names } from './definitions.ts';
import type { Io } from '../../frame/io.ts';
import { field } from '../../../terminal/columns.ts';

/** Adds the noun and its verbs. */
export function addExperts(program: Command, io: Io): void {
  addDefinitions(program, io, 'experts', {
    summary: 'agents with a role',
    description: 'Agents with instructions of their own: experts/NAME.md in the config directory, or in a plugin.',
    one: 'expert',
    inAList: [...NAME, field('model'), ...ABOUT],
    alone: [
      ...NAME,
      ...ABOUT,
      field('plugin'),
      field('model'),
      names('tools'),
      names('skills'),
      names('mcp_servers'),
      names('connectors'),
      names('plugins'),
      names('subagents'),
      field('browser'),
      field('instructions'),
    ],
    hasFiles: true,
  });
}
