// Plugins: `plugins/<name>/`, a folder with plugin.yaml, skills, MCP servers and experts.
import type { ExpertDefinition, McpServerDefinition, PluginDefinition, SkillDefinition } from '../definitions.ts';
import { readExperts } from './experts.ts';
import { readMcpServers } from './mcp-servers.ts';
import type { Problem } from '../reading/problem.ts';
import {
  DESCRIPTION,
  type Located,
  linkProblem,
  listFolder,
  nameProblems,
  type Reading,
  type Scope,
  textOr,
  words,
} from '../reading/reader.ts';
import { type Schema, section } from '../reading/schema.ts';
import { readSkills } from './skills.ts';
import { emptyYamlFile, readYamlFile } from '../reading/yaml-file.ts';

const SCHEMA: Schema = section({ description: DESCRIPTION, version: words('a version', 64) }, ['description']);

/** Plugins and what they contain. Problems of a plugin are among its own faults. */
export interface PluginsReading {
  readonly plugins: readonly Located<PluginDefinition>[];
  readonly skills: readonly Located<SkillDefinition>[];
  readonly mcpServers: readonly Located<McpServerDefinition>[];
  readonly experts: readonly Located<ExpertDefinition>[];
  readonly problems: readonly Problem[];
}

/** Reads every plugin of the config directory. Files next to the folders are ignored. */
export function readPlugins(scope: Scope): PluginsReading {
  const { entries, problems } = listFolder(scope.configDir, 'plugins');
  const read = entries
    .filter(({ isFolder, isLink }) => isFolder || isLink)
    .map(({ name, isLink }) => (isLink ? linkedPlugin(name) : readPlugin(scope, name)));
  return {
    plugins: read.map(({ plugin }) => plugin),
    skills: read.flatMap(({ skills }) => skills.found),
    mcpServers: read.flatMap(({ mcpServers }) => mcpServers.found),
    experts: read.flatMap(({ experts }) => experts.found),
    problems,
  };
}

function readPlugin(outer: Scope, name: string) {
  const scope: Scope = { ...outer, plugin: name, prefix: `plugins/${name}/` };
  const file = `${scope.prefix}plugin.yaml`;
  const source = readYamlFile(scope.configDir, file, SCHEMA);
  const [skills, mcpServers, experts] = [readSkills(scope), readMcpServers(scope), readExperts(scope)];
  const namesOf = ({ found }: Reading<{ readonly name: string }>) => found.map(({ thing }) => thing.name);
  const plugin: PluginDefinition = {
    name,
    file,
    description: textOr(source.value['description'], ''),
    version: textOr(source.value['version'], null),
    skills: namesOf(skills),
    mcpServers: namesOf(mcpServers),
    experts: namesOf(experts),
  };
  const missing = Object.keys(source.value).length === 0 && source.problems.length === 0;
  const faults = [
    ...nameProblems(`plugins/${name}`, name),
    ...(missing ? [source.problemAt(['description'], 'is missing', 'key')] : source.problems),
    ...skills.problems,
    ...mcpServers.problems,
    ...experts.problems,
  ];
  return { plugin: { thing: plugin, source, at: [], faults }, skills, mcpServers, experts };
}

function linkedPlugin(name: string) {
  const nothing = { found: [], problems: [] };
  const file = `plugins/${name}/plugin.yaml`;
  const thing: PluginDefinition = {
    name,
    file,
    description: '',
    version: null,
    skills: [],
    mcpServers: [],
    experts: [],
  };
  const plugin = { thing, source: emptyYamlFile(file, null), at: [], faults: [linkProblem(`plugins/${name}`)] };
  return { plugin, skills: nothing, mcpServers: nothing, experts: nothing };
}
