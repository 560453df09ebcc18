// Experts: `experts/<name>.md`, front matter and instructions.
import type { JsonObject } from '../../domain/json.ts';
import type { ExpertDefinition } from '../definitions.ts';
import { readFrontMatterFile } from '../reading/front-matter.ts';
import type { Problem } from '../reading/problem.ts';
import {
  DESCRIPTION,
  type Located,
  fullName,
  listFolder,
  nameProblems,
  names,
  type Reading,
  type Scope,
  textOr,
  textsOf,
} from '../reading/reader.ts';
import { flag, orNull, type Schema, section, text } from '../reading/schema.ts';

const SCHEMA: Schema = section(
  {
    description: DESCRIPTION,
    model: orNull(text('the name of a model', (value) => value.trim() !== '')),
    tools: names('a built-in tool'),
    skills: names('a skill'),
    mcp_servers: names('an MCP server'),
    connectors: names('a connector'),
    plugins: names('a plugin'),
    subagents: names('an expert'),
    browser: flag(),
  },
  ['description'],
);

const SUFFIX = '.md';

/** Reads the experts of a scope. Files that are not Markdown are ignored, and so is README.md. */
export function readExperts(scope: Scope): Reading<ExpertDefinition> {
  const folder = `${scope.prefix}experts`;
  const { entries, problems: unread } = listFolder(scope.configDir, folder);
  const problems: Problem[] = [...unread];
  const found: Located<ExpertDefinition>[] = [];
  for (const entry of entries) {
    const file = `${folder}/${entry.name}`;
    if (!entry.name.endsWith(SUFFIX) || entry.name.toLowerCase() === 'readme.md') continue;
    const name = entry.name.slice(0, -SUFFIX.length);
    const source = readFrontMatterFile(scope.configDir, file, SCHEMA);
    problems.push(...nameProblems(file, name), ...source.problems);
    const { value, body } = source;
    if (source.problems.length === 0 && body === '') {
      problems.push({ file, line: null, column: null, message: 'has no instructions below its front matter' });
    }
    found.push({ thing: toExpert(scope, file, { name, value, body }), source, at: [] });
  }
  return { found, problems };
}

interface ExpertFile {
  readonly name: string;
  readonly value: JsonObject;
  readonly body: string;
}

function toExpert(scope: Scope, file: string, { name, value, body }: ExpertFile): ExpertDefinition {
  return {
    name: fullName(scope, name),
    file,
    plugin: scope.plugin,
    description: textOr(value['description'], ''),
    instructions: body,
    model: textOr(value['model'], null),
    tools: Array.isArray(value['tools']) ? textsOf(value['tools']) : null,
    skills: textsOf(value['skills']),
    mcpServers: textsOf(value['mcp_servers']),
    connectors: textsOf(value['connectors']),
    plugins: textsOf(value['plugins']),
    subagents: textsOf(value['subagents']),
    browser: value['browser'] === true,
  };
}
