// `errand mcp`: the MCP servers that agents can use, and Errand as one of them for other agents.
import type { Command } from 'commander';
import type { DefinitionWire } from '../../../wire/capabilities/definition.ts';
import { act, type Context, requireApiKey } from '../../frame/context.ts';
import { ABOUT, addDefinitions, NAME, names } from './definitions.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { FINDINGS, type FindingRow } from '../../terminal/findings.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

const COLUMNS: readonly Column<DefinitionWire<'mcp-servers'>>[] = [
  ...NAME,
  field('kind', 4),
  column('at', ({ command, args, url }) => url ?? [command, ...(args ?? [])].join(' '), 5),
  field('enabled_by_default', 3),
  ...ABOUT,
];

/** Adds the noun and its verbs. */
export function addMcp(program: Command, io: Io): void {
  const mcp = addDefinitions(program, io, 'mcp-servers', {
    name: 'mcp',
    summary: 'MCP servers',
    description: 'MCP servers: mcp-servers.yaml in the config directory, or in a plugin.',
    one: 'MCP server',
    inAList: COLUMNS,
    alone: [
      ...COLUMNS,
      field('plugin'),
      names('env'),
      names('headers'),
      names('folders'),
      field('network'),
      names('tools'),
      field('start_timeout_seconds'),
      field('call_timeout_seconds'),
    ],
  });
  mcp
    .command('check <ref>')
    .summary('start a server and list its tools')
    .description(ABOUT_CHECK)
    .action(act(io, check));
  mcp
    .command('serve', { isDefault: true })
    .summary('be an MCP server, to which coding CLIs hand tasks over')
    .description(ABOUT_SERVE)
    .addHelpText('after', EXAMPLES)
    .action(act(io, serve));
}

const ABOUT_CHECK =
  'Start an MCP server as a run would, in the sandbox if it is a program, list its tools, and end it. Exits with 8 if it ' +
  'cannot be used; warnings do not count.';

const ABOUT_SERVE =
  'Be an MCP server on standard input and output, whose tools hand tasks over to the daemon. It ends with its input, and is meant to be ' +
  'started by the client: "errand mcp" is enough for that. Requires ERRAND_API_KEY or --token-file.';

const EXAMPLES = `
Examples:
  claude mcp add errand --env ERRAND_API_KEY=... -- errand --url http://127.0.0.1:8484 mcp`;

async function serve(context: Context): Promise<void> {
  const { stdin, stdout, terminal } = context.io;
  if (terminal.stdin) throw new CommandError('usage', 'An MCP client starts this, and speaks on its standard input.');
  await context.client().relayMcp(requireApiKey(context), { input: stdin, output: stdout });
}

async function check(context: Context, ref: string): Promise<void> {
  const { out } = context;
  const checked = await context.client().mcpServers.check(ref);
  const { name, findings, tools, stderr, ok } = checked;
  const rows: FindingRow[] = [
    ...findings.map((finding) => ({ name, ...finding })),
    ...tools.map((tool) => ({ name: tool.name, check: 'tool', state: 'ok' as const, detail: tool.description })),
  ];
  out.list(rows, FINDINGS, checked);
  if (ok) return;
  if (stderr !== '' && out.format !== 'json') out.hint(`Its standard error:\n${stderr.trimEnd()}`);
  throw new CommandError('checkFailed', `The MCP server ${name} cannot be used.`);
}
