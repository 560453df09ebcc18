// The skills of a run: listed in the instructions by name and description, and loaded when the agent asks for one.
import { openFileBeneath } from '../../disk/open-beneath.ts';
import { KB } from '../../domain/byte-units.ts';
import { decodeText } from '../../domain/charsets/charset-text.ts';
import { ErrandError } from '../../domain/errors.ts';
import { splitFrontMatter } from '../../domain/front-matter.ts';
import { walkBeneath } from '../../disk/walk-beneath.ts';
import type { SkillGrant } from '../port/grants.ts';
import type { ToolResult } from '../port/protocol.ts';
import { NO_TOOLS, type ToolPack } from '../loop/run.ts';
import { skillPath } from '../tools/skill-paths.ts';
import { defineTool, failed, inputOf, printableName, succeeded, textOf } from '../tools/workspace-tool.ts';
import { nothingToClose } from '../port/tool.ts';

const MAX_SKILL_BYTES = 256 * KB;
const MAX_FILES = 200;
const MAX_DEPTH = 8;
const SKILL_FILE = 'SKILL.md';

/** Only for runs with skills. */
export const skillTools: ToolPack = ({ brief }) => {
  const { skills } = brief.equipment;
  if (skills.length === 0) return NO_TOOLS;
  const loadSkill = defineTool({
    name: 'load_skill',
    description:
      'Loads a skill: returns its instructions and the list of its files. Load a skill before you start a task that it covers.',
    inputSchema: inputOf({ name: { type: 'string', minLength: 1, description: 'Name of the skill.' } }, ['name']),
    readsOnly: true,
    async execute(input, { signal }) {
      const name = textOf(input, 'name');
      const skill = skills.find((one) => one.name === name);
      if (skill !== undefined) return load(skill, signal);
      return failed(`There is no skill "${name}". The skills are: ${skills.map((one) => one.name).join(', ')}.`);
    },
  });
  return { tools: [loadSkill], notes: [noteOf(skills)], close: nothingToClose };
};

function noteOf(skills: readonly SkillGrant[]): string {
  const lines = skills.map(({ name, description }) => `  - ${name}: ${description.replaceAll(/\s+/g, ' ').trim()}`);
  return `Skills; load one with load_skill when the task matches its description:\n${lines.join('\n')}`;
}

async function load(skill: SkillGrant, signal: AbortSignal): Promise<ToolResult> {
  try {
    const body = withoutFrontMatter(await readSkill(skill));
    const files = await listFiles(skill, signal);
    const listing =
      files.length === 0
        ? 'The skill has no other files.'
        : `Files of the skill, read-only; use them with read_file and in commands:\n${files.join('\n')}`;
    return succeeded(`# Skill ${skill.name}\n\n${body}\n\n${listing}`);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    return failed(`The skill "${skill.name}" could not be loaded: ${error.message}`);
  }
}

async function readSkill({ folder }: SkillGrant): Promise<string> {
  const file = await openFileBeneath(folder, SKILL_FILE);
  try {
    const { size } = await file.stat();
    if (size > MAX_SKILL_BYTES) throw new ErrandError('too_large', `its ${SKILL_FILE} is larger than 256 KB.`);
    const decoded = await decodeText(await file.readFile());
    if (decoded === undefined) throw new ErrandError('unprocessable', `its ${SKILL_FILE} is not text.`);
    return decoded.text;
  } finally {
    await file.close();
  }
}

/** The text after the front matter; all of it when it has none. */
export function withoutFrontMatter(text: string): string {
  const plain = text.replace(/^\uFEFF/, '');
  return splitFrontMatter(plain)?.body ?? plain.trim();
}

/** The skill's other files, one a line with its size. */
async function listFiles(skill: SkillGrant, signal: AbortSignal): Promise<string[]> {
  const lines: string[] = [];
  let more = false;
  for await (const { folder, listing } of walkBeneath(skill.folder, '', (_folder, depth) => depth < MAX_DEPTH)) {
    signal.throwIfAborted();
    more ||= listing.more;
    for (const { name, kind, size } of listing.entries) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (kind !== 'file' || path === SKILL_FILE) continue;
      if (lines.length < MAX_FILES) lines.push(`${skillPath(skill)}/${printableName(path)} ${size}`);
      else more = true;
    }
    if (more) break;
  }
  return more ? [...lines, `[Only the first ${lines.length} files are shown.]`] : lines;
}
