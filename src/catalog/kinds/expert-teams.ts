// Expert teams: `expert-teams/<name>.yaml`, a lead and its members.
import type { TeamDefinition } from '../definitions.ts';
import type { Problem } from '../reading/problem.ts';
import {
  DESCRIPTION,
  type Located,
  listFolder,
  nameProblems,
  type Reading,
  type Scope,
  textOr,
  textsOf,
  words,
} from '../reading/reader.ts';
import { list, type Schema, section, text } from '../reading/schema.ts';
import { readYamlFile } from '../reading/yaml-file.ts';

const MAX_MEMBERS = 20;
const anExpert = text('the name of an expert', (value) => value.trim() !== '');

const SCHEMA: Schema = section(
  {
    description: DESCRIPTION,
    lead: anExpert,
    members: { ...list(anExpert, 'experts', MAX_MEMBERS), type: 'array', minItems: 1 },
    instructions: words('instructions', 100_000),
  },
  ['description', 'lead', 'members'],
);

const FOLDER = 'expert-teams';
const SUFFIX = '.yaml';

/** Reads the expert teams of the config directory; plugins have no expert teams. */
export function readExpertTeams(scope: Scope): Reading<TeamDefinition> {
  const { entries, problems: unread } = listFolder(scope.configDir, FOLDER);
  const problems: Problem[] = [...unread];
  const found: Located<TeamDefinition>[] = [];
  for (const entry of entries) {
    const file = `${FOLDER}/${entry.name}`;
    if (entry.name.endsWith('.yml')) problems.push({ file, line: null, column: null, message: 'must end in .yaml' });
    if (!entry.name.endsWith(SUFFIX)) continue;
    const name = entry.name.slice(0, -SUFFIX.length);
    const source = readYamlFile(scope.configDir, file, SCHEMA);
    const { value } = source;
    const team: TeamDefinition = {
      name,
      file,
      description: textOr(value['description'], ''),
      lead: textOr(value['lead'], ''),
      members: textsOf(value['members']),
      instructions: textOr(value['instructions'], '').trim(),
    };
    problems.push(...nameProblems(file, name), ...source.problems);
    const self = team.members.indexOf(team.lead);
    if (self >= 0)
      problems.push(source.problemAt(['members', String(self)], 'is the lead, which cannot also be a member'));
    found.push({ thing: team, source, at: [] });
  }
  return { found, problems };
}
