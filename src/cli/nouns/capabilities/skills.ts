// `errand skills`: instructions that agents load when they need them.
import type { Command } from 'commander';
import { ABOUT, addDefinitions, NAME, names } from './definitions.ts';
import type { Io } from '../../frame/io.ts';
import { field } from '../../../terminal/columns.ts';

/** Adds the noun and its verbs. */
export function addSkills(program: Command, io: Io): void {
  addDefinitions(program, io, 'skills', {
    summary: 'Agent Skills',
    description: 'Skills in the Agent Skills format: skills/NAME/SKILL.md in the config directory, or in a plugin.',
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
    hasFiles: true,
  });
}
