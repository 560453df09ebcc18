// `errand plugins`: skills, MCP servers and experts in one folder.
import type { Command } from 'commander';
import { ABOUT, addFileCheck, addReading, NAME, names, type Noun } from './definitions.ts';
import type { Io } from '../../frame/io.ts';
import { field } from '../../../terminal/columns.ts';

const PLUGINS: Noun<'plugins'> = {
  noun: 'plugins',
  one: 'plugin',
  inAList: [...NAME, field('version'), ...ABOUT],
  alone: [...NAME, field('version'), ...ABOUT, names('skills'), names('mcp_servers'), names('experts')],
};

/** Adds the noun and its verbs. */
export function addPlugins(program: Command, io: Io): void {
  const plugins = program
    .command('plugins')
    .summary('bundles of the above')
    .description('Folders of skills, MCP servers and experts: plugins/NAME/ in the config directory.');
  addReading(plugins, io, PLUGINS);
  addFileCheck(plugins, io, 'plugins');
}
