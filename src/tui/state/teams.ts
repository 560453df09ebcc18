// The teams in the order of the floor, the one that is chosen, and those that are found.
import type { Flow } from './flow.ts';
import type { Office, Team } from './office.ts';
import type { TeamPicker } from './screens.ts';

/** Those that spent most today first. */
export function teamsInOrder({ teams }: Pick<Office, 'teams'>): readonly Team[] {
  return [...teams].sort(
    (a, b) =>
      b.today_cost_usd - a.today_cost_usd || b.today_total_tokens - a.today_total_tokens || (a.name < b.name ? -1 : 1),
  );
}

/** Those whose name has what is typed; those that begin with it first. */
export function teamsFound(office: Pick<Office, 'teams'>, { find }: Pick<TeamPicker, 'find'>): readonly Team[] {
  const wanted = find.trim().toLowerCase();
  const found = teamsInOrder(office).filter(({ name }) => name.toLowerCase().includes(wanted));
  const isFirst = ({ name }: Team) => name.toLowerCase().startsWith(wanted);
  return wanted === '' ? found : [...found.filter(isFirst), ...found.filter((team) => !isFirst(team))];
}

/** What there is to choose: all teams, whose id is empty, while nothing is typed, and those that are found. */
export function pickableIds(office: Pick<Office, 'teams'>, picker: TeamPicker): readonly string[] {
  const found = teamsFound(office, picker).map(({ id }) => id);
  return picker.find.trim() === '' ? ['', ...found] : found;
}

/** What all teams used in the last hour, by minutes. */
export function flowOfAll(flows: Iterable<Pick<Flow, 'minutes'>>): readonly (number | null)[] {
  const sums: (number | null)[] = [];
  for (const { minutes } of flows)
    minutes.forEach((value, at) => {
      sums[at] = value === null ? (sums[at] ?? null) : (sums[at] ?? 0) + value;
    });
  return sums;
}
