// Maps paths under /skills/ to the folders of a run's skills, for tools that only read.
import { realpath } from 'node:fs/promises';
import { partsBeneath } from '../../disk/open-beneath.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { SkillGrant } from '../port/grants.ts';
import type { Mount } from '../sandbox/walls.ts';
import type { ToolContext } from '../port/tool.ts';
import { textOf, workspacePath } from './workspace-tool.ts';

/** Where commands in the sandbox, and paths of the model, find the skills. */
const SKILLS_MOUNT = '/skills';

/** A folder that a tool may read, and a path beneath it. */
export interface ReadableFolder {
  readonly root: string;
  readonly path: string;
  /** Prefix of paths beneath the root when they are shown to the model. */
  readonly prefix: string;
}

/** The path at which a skill's folder appears. */
export function skillPath({ name }: Pick<SkillGrant, 'name'>): string {
  return `${SKILLS_MOUNT}/${name}`;
}

/** The read-only folders that commands of a run see. A skill whose folder is gone has none. */
export async function skillMounts(skills: readonly SkillGrant[]): Promise<Mount[]> {
  const found = await Promise.all(
    skills.map(async (skill) => {
      const source = await realpath(skill.folder).catch(() => undefined);
      return source === undefined ? [] : [{ source, target: skillPath(skill) }];
    }),
  );
  return found.flat();
}

/**
 * Resolves a path of the model for reading: into a skill's folder for `/skills/<name>/…`, otherwise into the workspace. Throws
 * not_found for a skill that the run does not have. In a run without skills, all paths are in the workspace.
 */
export function folderOf(
  path: string,
  { workspace, skills }: Pick<ToolContext, 'workspace' | 'skills'>,
): ReadableFolder {
  const inSkills = partsInSkills(path, skills);
  if (inSkills === undefined) return { root: workspace, path: workspacePath(path), prefix: '' };
  const [name, ...rest] = inSkills;
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined) {
    const known = skills.map(skillPath).join(', ');
    throw new ErrandError(
      'not_found',
      `${JSON.stringify(path)} does not belong to a skill of this run. The skills are in: ${known}.`,
    );
  }
  return { root: skill.folder, path: rest.join('/'), prefix: `${skillPath(skill)}/` };
}

/**
 * The path in the workspace that the `path` of an input names, for writing; without `/` at its beginning. Throws bad_request as
 * `partsBeneath` does, and forbidden for one that leads into a skill.
 */
export function writtenPath(input: JsonObject, { skills }: Pick<ToolContext, 'skills'>): string {
  const path = textOf(input, 'path');
  if (partsInSkills(path, skills) !== undefined) {
    throw new ErrandError('forbidden', `${JSON.stringify(path)} belongs to a skill, and skills are read-only.`);
  }
  return partsBeneath(workspacePath(path)).join('/');
}

function partsInSkills(path: string, skills: readonly SkillGrant[]): readonly string[] | undefined {
  if (skills.length === 0 || !path.startsWith('/')) return undefined;
  const [top, ...rest] = partsBeneath(path);
  return `/${top}` === SKILLS_MOUNT ? rest : undefined;
}
