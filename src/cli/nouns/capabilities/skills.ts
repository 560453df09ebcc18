// `errand skills`: instructions that agents load when they need them.
import type { Command } from 'commander';
import { ABOUT, addFileCheck, addReading, NAME, names, type Noun } from './definitions.ts';
import type { Io } from '../../frame/io.ts';
import { field } from '../../../terminal/columns.ts';

const SKILLS: Noun<'skills'> = {
  noun: 'skills',
  one: 'skill',
  inAList: [...NAME, field('enabled_by_default', 4), ...ABOUT],
  alone: [
    ...NAME,
    field('enabled_by_default'),
    ...ABOUT,
    field('plugin'),
    field('license'),
    field('compatibility'),
    names('allowed_tools'),
    {
      name: 'metadata',
      value: ({ metadata }) =>
        Object.entries(metadata)
          .map((entry) => entry.join('='))
          .join(', '),
    },
  ],
};

/** Adds the noun and its verbs. */
export function addSkills(program: Command, io: Io): void {
  const skills = program
    .command('skills')
    .summary('Agent Skills')
    .description('Skills in the Agent Skills format: skills/NAME/SKILL.md in the config directory, or in a plugin.');
  addReading(skills, io, SKILLS);
  addFileCheck(skills, io, 'skills');
}
