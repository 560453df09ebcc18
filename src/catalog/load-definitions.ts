// Reads every definition of the config directory, and resolves the names by which they refer to each other (J1, J2).
import { type Definitions, type ExpertDefinition, NO_DEFINITIONS, type TeamDefinition } from './definitions.ts';
import { readConnectors } from './kinds/connectors.ts';
import { readExpertTeams } from './kinds/expert-teams.ts';
import { readExperts } from './kinds/experts.ts';
import { brokenOf, leaveOut } from './reading/leave-out.ts';
import { readMcpServers } from './kinds/mcp-servers.ts';
import { didYouMean } from './reading/nearest-name.ts';
import { readPlugins } from './kinds/plugins.ts';
import { formatProblem, type Problem } from './reading/problem.ts';
import type { Located, Scope } from './reading/reader.ts';
import type { SecretLocations } from './reading/secret-file.ts';
import { readSkills } from './kinds/skills.ts';

/** What definitions can refer to that is defined elsewhere. */
export interface KnownNames {
  /** Names in models.yaml; null when that file could not be read, so that no name counts as wrong. */
  readonly models: ReadonlySet<string> | null;
  /** Names of built-in tools. */
  readonly tools: ReadonlySet<string>;
}

export type DefinitionsLoad =
  /** `problems` are those of the skills and plugins that are left out. */
  | { readonly ok: true; readonly definitions: Definitions; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads all definitions. Returns all problems at once, in the order of their files and places. A problem in what the
 * operator writes for this daemon (experts, teams, servers, connectors) rejects everything; a skill or a plugin with a
 * problem is left out by itself, or stays as it was `before`. References to it stay valid: whoever uses it learns of it
 * then.
 */
export function loadDefinitions(
  locations: SecretLocations,
  known: KnownNames,
  before: Definitions = NO_DEFINITIONS,
): DefinitionsLoad {
  const scope: Scope = { ...locations, plugin: null, prefix: '' };
  const plugins = readPlugins(scope);
  const [skills, mcpServers, experts] = [readSkills(scope), readMcpServers(scope), readExperts(scope)];
  const [teams, connectors] = [readExpertTeams(scope), readConnectors(scope)];
  const all = {
    experts: byName([...experts.found, ...plugins.experts]),
    teams: byName(teams.found),
    skills: byName([...skills.found, ...plugins.skills]),
    plugins: byName(plugins.plugins),
    mcpServers: byName([...mcpServers.found, ...plugins.mcpServers]),
    connectors: byName(connectors.found),
  };
  const partial = { mcpServers: mcpServers.isPartial === true, connectors: connectors.isPartial === true };
  const references: Reference[] = [];
  const resolution: Resolution = { all, partial, known, references };
  const definitions: Definitions = {
    experts: mapValues(all.experts, (found) => withFullNames(resolution, found)),
    teams: mapValues(all.teams, (found) => withFullMembers(resolution, found)),
    skills: mapValues(all.skills, ({ thing }) => thing),
    plugins: mapValues(all.plugins, ({ thing }) => thing),
    mcpServers: mapValues(all.mcpServers, ({ thing }) => thing),
    connectors: mapValues(all.connectors, ({ thing }) => thing),
  };
  const readings = [plugins, skills, mcpServers, experts, teams, connectors];
  const ofPlugins = references.filter(({ plugin }) => plugin !== null);
  const broken = brokenOf(all, ofPlugins);
  const own = [
    ...readings.flatMap(({ problems }) => problems),
    ...references.filter((one) => one.plugin === null).map(({ problem }) => problem),
  ];
  const problems = sorted([...own, ...broken.problems]);
  if (own.length > 0) return { ok: false, problems };
  return { ok: true, definitions: leaveOut(definitions, broken, before), problems };
}

/** An unresolved name, and the plugin of the expert that uses it; null when it has no plugin. */
interface Reference {
  readonly plugin: string | null;
  readonly problem: Problem;
}

type ByName<T> = ReadonlyMap<string, Located<T>>;

interface Resolution {
  readonly all: { readonly [Kind in keyof Definitions]: ByName<unknown> };
  /** Kinds whose names could not all be read. */
  readonly partial: { readonly [Kind in keyof Definitions]?: boolean };
  readonly known: KnownNames;
  readonly references: Reference[];
}

function byName<T extends { readonly name: string }>(found: readonly Located<T>[]): ByName<T> {
  return new Map(found.map((one) => [one.thing.name, one]));
}

function mapValues<T, U>(from: ReadonlyMap<string, T>, to: (value: T) => U): ReadonlyMap<string, U> {
  return new Map([...from].map(([name, value]) => [name, to(value)]));
}

/** The full name: in the same plugin first, then the exact name. Undefined when there is none. */
function resolve(name: string, plugin: string | null, among: { has(name: string): boolean }): string | undefined {
  const own = `${plugin}:${name}`;
  if (plugin !== null && among.has(own)) return own;
  return among.has(name) ? name : undefined;
}

/** The lists of an expert, their keys in its file, and what they refer to. */
const LISTS = [
  { field: 'skills', key: 'skills', kind: 'skills', what: 'a skill' },
  { field: 'mcpServers', key: 'mcp_servers', kind: 'mcpServers', what: 'an MCP server' },
  { field: 'connectors', key: 'connectors', kind: 'connectors', what: 'a connector' },
  { field: 'plugins', key: 'plugins', kind: 'plugins', what: 'a plugin' },
  { field: 'subagents', key: 'subagents', kind: 'experts', what: 'an expert' },
] as const;

function withFullNames(
  { all, partial, known, references }: Resolution,
  { thing, source }: Located<ExpertDefinition>,
): ExpertDefinition {
  const { name: self, plugin, model } = thing;
  const add = (path: readonly string[], message: string) =>
    void references.push({ plugin, problem: source.problemAt(path, message) });
  if (model !== null && known.models?.has(model) === false) {
    add(
      ['model'],
      `refers to a model that does not exist in models.yaml: "${model}"${didYouMean(model, known.models)}`,
    );
  }
  for (const { index, name } of namesIn(source, 'tools')) {
    if (known.tools.has(name)) continue;
    add(['tools', index], `refers to a built-in tool that does not exist: "${name}"${didYouMean(name, known.tools)}`);
  }
  const lists = LISTS.map(({ field, key, kind, what }) => {
    const fullNames = namesIn(source, key).map(({ index, name }) => {
      const full = resolve(name, plugin, all[kind]);
      if (full === undefined && partial[kind] !== true) {
        add([key, index], `refers to ${what} that does not exist: "${name}"${didYouMean(name, all[kind].keys())}`);
      } else if (field === 'subagents' && full === self) add([key, index], 'refers to the expert itself');
      return full ?? name;
    });
    return [field, fullNames];
  });
  return { ...thing, ...(Object.fromEntries(lists) as Pick<ExpertDefinition, (typeof LISTS)[number]['field']>) };
}

/** The names in a list and their positions. The schema reports what is not a name. */
function namesIn(
  { value }: Located<unknown>['source'],
  key: string,
): { readonly index: string; readonly name: string }[] {
  const given = value[key];
  if (!Array.isArray(given)) return [];
  return given.flatMap((name, index) =>
    typeof name === 'string' && name.trim() !== '' ? [{ index: String(index), name }] : [],
  );
}

function withFullMembers({ all, references }: Resolution, { thing, source }: Located<TeamDefinition>): TeamDefinition {
  const check = (name: string, path: readonly string[]) => {
    if (name.trim() === '' || all.experts.has(name)) return;
    const message = `refers to an expert that does not exist: "${name}"${didYouMean(name, all.experts.keys())}`;
    references.push({ plugin: null, problem: source.problemAt(path, message) });
  };
  check(thing.lead, ['lead']);
  for (const { index, name } of namesIn(source, 'members')) check(name, ['members', index]);
  return thing;
}

function sorted(problems: readonly Problem[]): readonly Problem[] {
  // The collator takes longer to make than all files to read.
  if (problems.length < 2) return problems;
  const order = new Intl.Collator('en', { numeric: true });
  return problems.toSorted(
    (a, b) =>
      order.compare(a.file ?? '', b.file ?? '') ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      order.compare(formatProblem(a), formatProblem(b)),
  );
}
