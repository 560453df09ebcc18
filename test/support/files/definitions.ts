// Definitions in files of a config directory, and what is read of them.
import type { Definitions } from '../../../src/catalog/definitions.ts';
import { loadDefinitions } from '../../../src/catalog/load-definitions.ts';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export type Files = Readonly<Record<string, string>>;

export const KNOWN = { models: new Set(['qwen', 'opus']), tools: new Set(['read_file', 'shell']) };

export function read(configDir: string, credentialsDirectory: string | null = null) {
  return loadDefinitions({ configDir, credentialsDirectory }, KNOWN);
}

export function load(files: Files): Definitions {
  const loaded = read(temporaryDirectory(files));
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded.definitions;
}

export function problemsOf(files: Files, credentials: string | null = null): string[] {
  const loaded = read(temporaryDirectory(files), credentials);
  return loaded.problems.map(formatProblem);
}

export const CLERK = '---\ndescription: Files things\n---\nFile it.\n';

export const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\nDo it.\n`;

export const EXPERT = (keys: string, body = 'Work.') => ({
  'experts/a.md': `---\ndescription: A\n${keys}\n---\n${body}\n`,
});
export const SERVER = (keys: string, more: Files = {}) => ({
  'mcp-servers.yaml': `servers:\n  s:\n    ${keys}\n`,
  ...more,
});
export const CONNECTOR = (auth: string, keys = '') => ({
  'connectors.yaml': `connectors:\n  c:\n    description: C\n    base_url: https://c.example\n    auth: ${auth}\n${keys}`,
});
