// `errand plugins`: skills, MCP servers and experts in one folder.
import type { Command } from 'commander';
import { ABOUT, addDefinitions, NAME, names } from './definitions.ts';
import type { Io } from '../../frame/io.ts';
import { field } from '../../../terminal/columns.ts';

/** Adds the noun and its verbs. */
export function addPlugins(program: Command, io: Io): void {
  addDefinitions(program, io, 'plugins', {
    summary: 'bundles of the above',
    description: 'Folders of skills, MCP servers and experts: plugins/NAME/ in the config directory.',
    one: 'plugin',
    inAList: [...NAME, field('version'), ...ABOUT],
    alone: [...NAME, field('version'), ...ABOUT, names('skills'), names('mcp_servers'), names('experts')],
    hasFiles: true,
  });
}
