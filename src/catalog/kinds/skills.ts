// Skills in the Agent Skills format: `skills/<name>/SKILL.md`.
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { SkillDefinition } from '../definitions.ts';
import { readFrontMatterFile } from '../reading/front-matter.ts';
import type { Problem } from '../reading/problem.ts';
import {
  DESCRIPTION,
  type Located,
  fullName,
  linkProblem,
  listFolder,
  mapOf,
  nameProblems,
  NAMING,
  type Reading,
  type Scope,
  textOr,
  words,
} from '../reading/reader.ts';
import { dictionary, type Schema, section, text } from '../reading/schema.ts';
import { emptyYamlFile, type YamlFile } from '../reading/yaml-file.ts';

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';

/** The key in a skill's metadata that gives it to API keys without a choice of skills. */
const BY_DEFAULT = 'enabled_by_default';

const SCHEMA: Schema = section(
  {
    name: text(NAMING.mustBe.replace(/^must be /, ''), (value) => new RegExp(NAMING.pattern).test(value)),
    description: DESCRIPTION,
    license: words('the name of a license', 500),
    compatibility: words('what the skill needs', 500),
    metadata: dictionary({ type: ['string', 'number', 'boolean'], mustBe: 'must be a text' }),
    'allowed-tools': words('names of tools with spaces between them', 1024),
  },
  ['name', 'description'],
);

/**
 * Reads the skills of a scope. Most are made by other people: a fault in one affects only that one. A folder without
 * SKILL.md is such a fault; files next to the folders are ignored.
 */
export function readSkills(scope: Scope): Reading<SkillDefinition> {
  const folder = `${scope.prefix}skills`;
  const { entries, problems: unread } = listFolder(scope.configDir, folder);
  const found: Located<SkillDefinition>[] = [];
  for (const { name, isFolder, isLink } of entries) {
    if (!isFolder && !isLink) continue;
    const file = `${folder}/${name}/${SKILL_FILE}`;
    const source = isLink ? emptyYamlFile(file, null) : readFrontMatterFile(scope.configDir, file, SCHEMA);
    const faults = isLink ? [linkProblem(`${folder}/${name}`)] : faultsOf({ scope, name, file, source });
    const thing = toSkill(scope, file, { name, value: source.value });
    found.push({ thing, source, at: [], faults: [...nameProblems(`${folder}/${name}`, name), ...faults] });
  }
  return { found, problems: unread };
}

interface SkillLocation {
  readonly scope: Scope;
  readonly name: string;
  readonly file: string;
  readonly source: YamlFile;
}

function faultsOf({ scope, name, file, source }: SkillLocation): readonly Problem[] {
  if (isLinked(path.join(scope.configDir, file))) return [linkProblem(file)];
  const inFile = source.value['name'];
  // The schema reports an invalid name.
  if (typeof inFile !== 'string' || inFile === name || isReported(source, 'name')) return source.problems;
  return [...source.problems, source.problemAt(['name'], `must match the name of its folder, ${name}`)];
}

/** Where it can't be seen, whoever reads it says why. */
function isLinked(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

const isReported = ({ problems }: YamlFile, key: string) =>
  problems.some(({ message }) => message.startsWith(`${key}: `));

function toSkill(
  scope: Scope,
  file: string,
  { name, value }: { readonly name: string; readonly value: JsonObject },
): SkillDefinition {
  const metadata = metadataOf(value['metadata']);
  return {
    name: fullName(scope, name),
    file,
    plugin: scope.plugin,
    description: textOr(value['description'], ''),
    folder: path.join(scope.configDir, path.dirname(file)),
    license: textOr(value['license'], null),
    compatibility: textOr(value['compatibility'], null),
    metadata,
    allowedTools: textOr(value['allowed-tools'], '')
      .split(/[\s,]+/)
      .filter((tool) => tool !== ''),
    enabledByDefault: metadata[BY_DEFAULT] === 'true',
  };
}

function metadataOf(value: JsonValue | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(mapOf(value)).map(([key, item]) => [key, typeof item === 'string' ? item : JSON.stringify(item)]),
  );
}
