// Reads every definition of the config directory, and looks up the names by which they refer to each other (J1, J2).
import type { Definitions, ExpertDefinition, TeamDefinition } from './definitions.ts';
import { readConnectors } from './connectors.ts';
import { readExpertTeams } from './expert-teams.ts';
import { readExperts } from './experts.ts';
import { readMcpServers } from './mcp-servers.ts';
import { didYouMean } from './nearest-name.ts';
import { readPlugins } from './plugins.ts';
import { formatProblem, type Problem } from './problem.ts';
import type { Found, Scope } from './reading.ts';
import type { SecretPlaces } from './secret-file.ts';
import { readSkills } from './skills.ts';

/** What definitions may name that is defined elsewhere. */
export interface KnownNames {
  /** Names of models.yaml; null when that file could not be read, so that none is doubted. */
  readonly models: ReadonlySet<string> | null;
  /** Names of built-in tools. */
  readonly tools: ReadonlySet<string>;
}

export type DefinitionsLoad =
  | { readonly ok: true; readonly definitions: Definitions }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads them all. Problems come at once, in the order of their files and places; the definitions only without any. */
export function loadDefinitions(places: SecretPlaces, known: KnownNames): DefinitionsLoad {
  const scope: Scope = { ...places, plugin: null, prefix: '' };
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
  const references: Problem[] = [];
  const lookUp: LookUp = { all, known, problems: references };
  const definitions: Definitions = {
    experts: mapValues(all.experts, (found) => withFullNames(lookUp, found)),
    teams: mapValues(all.teams, (found) => withFullMembers(lookUp, found)),
    skills: mapValues(all.skills, ({ thing }) => thing),
    plugins: mapValues(all.plugins, ({ thing }) => thing),
    mcpServers: mapValues(all.mcpServers, ({ thing }) => thing),
    connectors: mapValues(all.connectors, ({ thing }) => thing),
  };
  const readings = [plugins, skills, mcpServers, experts, teams, connectors];
  const problems = [...readings.flatMap((reading) => reading.problems), ...references];
  return problems.length === 0 ? { ok: true, definitions } : { ok: false, problems: sorted(problems) };
}

type ByName<T> = ReadonlyMap<string, Found<T>>;

interface LookUp {
  readonly all: { readonly [Kind in keyof Definitions]: ByName<unknown> };
  readonly known: KnownNames;
  readonly problems: Problem[];
}

function byName<T extends { readonly name: string }>(found: readonly Found<T>[]): ByName<T> {
  return new Map(found.map((one) => [one.thing.name, one]));
}

function mapValues<T, U>(from: ReadonlyMap<string, T>, to: (value: T) => U): ReadonlyMap<string, U> {
  return new Map([...from].map(([name, value]) => [name, to(value)]));
}

/** The full name: one of the same plugin first, then one of that very name. Undefined when there is none. */
function resolve(name: string, plugin: string | null, among: { has(name: string): boolean }): string | undefined {
  const own = `${plugin}:${name}`;
  if (plugin !== null && among.has(own)) return own;
  return among.has(name) ? name : undefined;
}

/** The lists of an expert, the keys they stand under in its file, and what they name. */
const LISTS = [
  { field: 'skills', key: 'skills', kind: 'skills', what: 'a skill' },
  { field: 'mcpServers', key: 'mcp_servers', kind: 'mcpServers', what: 'an MCP server' },
  { field: 'connectors', key: 'connectors', kind: 'connectors', what: 'a connector' },
  { field: 'plugins', key: 'plugins', kind: 'plugins', what: 'a plugin' },
  { field: 'subagents', key: 'subagents', kind: 'experts', what: 'an expert' },
] as const;

function withFullNames({ all, known, problems }: LookUp, { thing, source }: Found<ExpertDefinition>): ExpertDefinition {
  // Places in a list are those of the file only when all of it could be read.
  if (source.problems.length > 0) return thing;
  if (thing.model !== null && known.models?.has(thing.model) === false) {
    problems.push(source.problemAt(['model'], `names no model of models.yaml${didYouMean(thing.model, known.models)}`));
  }
  for (const [index, tool] of (thing.tools ?? []).entries()) {
    if (known.tools.has(tool)) continue;
    problems.push(source.problemAt(['tools', String(index)], `names no built-in tool${didYouMean(tool, known.tools)}`));
  }
  const lists = LISTS.map(({ field, key, kind, what }) => {
    const fullNames = thing[field].map((name, index) => {
      const full = resolve(name, thing.plugin, all[kind]);
      const add = (message: string) => problems.push(source.problemAt([key, String(index)], message));
      if (full === undefined) add(`names ${what} that does not exist${didYouMean(name, all[kind].keys())}`);
      else if (field === 'subagents' && full === thing.name) add('names the expert itself');
      return full ?? name;
    });
    return [field, fullNames];
  });
  return { ...thing, ...(Object.fromEntries(lists) as Pick<ExpertDefinition, (typeof LISTS)[number]['field']>) };
}

function withFullMembers({ all, problems }: LookUp, { thing, source }: Found<TeamDefinition>): TeamDefinition {
  if (source.problems.length > 0) return thing;
  const check = (name: string, path: readonly string[]) => {
    if (all.experts.has(name)) return;
    const message = `names an expert that does not exist${didYouMean(name, all.experts.keys())}`;
    problems.push(source.problemAt(path, message));
  };
  check(thing.lead, ['lead']);
  for (const [index, member] of thing.members.entries()) check(member, ['members', String(index)]);
  return thing;
}

function sorted(problems: readonly Problem[]): readonly Problem[] {
  const order = new Intl.Collator('en', { numeric: true });
  return problems.toSorted(
    (a, b) =>
      order.compare(a.file ?? '', b.file ?? '') ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      order.compare(formatProblem(a), formatProblem(b)),
  );
}
