// What the config directory defines, by noun, and what is wrong with its files.
import { array, dictionary, object } from '../shapes/composites.ts';
import { endpoints } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { record } from '../shapes/record.ts';
import { boolean, integer, number, oneOf, string } from '../shapes/scalars.ts';
import { named, nullable, optional, type Shape, type Static } from '../shapes/shape.ts';

const names = array(string);

/** `id` is null for kinds that have none; `file` is relative to the config directory. */
const defined = { id: nullable(integer()), name: string, description: string, file: string };
/** `plugin`: the one that brings it; null when it stands alone. */
const bundled = { ...defined, plugin: nullable(string) };
/** Present when a single definition is requested. */
const instructions = { instructions: optional(string) };

/** An MCP server, by how it is reached. Values that may be secrets are omitted; their names are shown. */
const mcpServer = {
  ...bundled,
  start_timeout_seconds: number({ from: 0 }),
  call_timeout_seconds: number({ from: 0 }),
  tools: nullable(names),
  enabled_by_default: boolean,
};

/** Each noun's definitions. */
export const DEFINITION_SHAPES = {
  experts: named(
    'Expert',
    object({
      ...bundled,
      model: nullable(string),
      tools: nullable(names),
      skills: names,
      mcp_servers: names,
      connectors: names,
      plugins: names,
      subagents: names,
      browser: boolean,
      ...instructions,
    }),
  ),
  'expert-teams': named('ExpertTeam', object({ ...defined, lead: string, members: names, ...instructions })),
  skills: named(
    'Skill',
    object({
      ...bundled,
      license: nullable(string),
      compatibility: nullable(string),
      metadata: dictionary(string),
      allowed_tools: names,
      enabled_by_default: boolean,
    }),
  ),
  plugins: named(
    'Plugin',
    object({ ...defined, version: nullable(string), skills: names, mcp_servers: names, experts: names }),
  ),
  'mcp-servers': named(
    'McpServer',
    object({
      ...mcpServer,
      kind: oneOf(['stdio', 'http']),
      command: optional(string),
      args: optional(names),
      env: optional(names),
      folders: optional(names),
      network: optional(boolean),
      url: optional(string),
      headers: optional(names),
    }),
  ),
  connectors: named(
    'Connector',
    object({
      ...defined,
      base_url: string,
      auth: object({
        kind: string,
        header: string,
        token_url: nullable(string),
        client_id: nullable(string),
        scopes: names,
      }),
      methods: names,
      paths: names,
    }),
  ),
} as const satisfies Readonly<Record<string, Shape<Defined, Defined, never>>>;

/** What every definition has. */
export interface Defined {
  readonly id: number | null;
  readonly name: string;
  readonly description: string;
  readonly file: string;
  readonly instructions?: string;
}

export type DefinitionNoun = keyof typeof DEFINITION_SHAPES;
export type DefinitionWire<N extends DefinitionNoun> = Static<(typeof DEFINITION_SHAPES)[N]>;

/** What is wrong with a file; it has a line and a column when it is in one place. */
export const problem = named(
  'Problem',
  record({ file: nullable(string), line: nullable(integer()), column: nullable(integer()), message: string }),
);

/** What a look at the files found. */
export const definitionCheck = named('DefinitionCheck', object({ ok: boolean, problems: array(problem) }));
export type DefinitionCheckWire = Static<typeof definitionCheck>;

/** A definition of a noun. */
function definitionOf<N extends DefinitionNoun>(noun: N) {
  return DEFINITION_SHAPES[noun] as unknown as Shape<DefinitionWire<N>>;
}

export const DEFINITION_NOUNS = Object.keys(DEFINITION_SHAPES) as readonly DefinitionNoun[];

/** The definitions of a noun, for administrators: in effect, with why some are left out, and as their files are now. */
export function definitionsOf<N extends DefinitionNoun>(noun: N) {
  const words = noun === 'mcp-servers' ? 'MCP servers' : noun.replace('-', ' ');
  const folder: DefinitionNoun = noun;
  const one = definitionOf(noun);
  const reply = object({ ...listOf(one).fields, problems: array(problem) });
  return endpoints('admin', 'envelope', {
    list: { route: `GET /api/v1/${folder}`, summary: `List ${words}`, reply },
    get: { route: `GET /api/v1/${folder}/:ref`, summary: `Read one of the ${words}`, reply: one },
    check: {
      route: `POST /api/v1/definitions/${folder}/check`,
      summary: `Read the files of ${words} now, and report what is wrong with them`,
      reply: definitionCheck,
    },
  });
}
