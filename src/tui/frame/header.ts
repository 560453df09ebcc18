// The line at the top of every screen: the counters of the office, how the view stands with the daemon, and the clock.
import { compact } from '../../domain/figures.ts';
import { clockOf } from '../../terminal/moments.ts';
import { money } from '../../terminal/money.ts';
import { standingOf } from '../state/connection.ts';
import type { Office, RunStatus } from '../state/office.ts';
import { runStyleOf } from '../state/run-style.ts';
import { type AppState, officeShown } from '../state/state.ts';
import { flowOfAll } from '../state/teams.ts';
import { barOf, gather } from '../text/graphs.ts';
import { graph, type Group, groupsWithin, type Line, lineOf, type Span, span, widthOfSpans } from '../text/line.ts';

const COUNTED = ['running', 'pending', 'completed', 'failed', 'idle'] as const satisfies readonly RunStatus[];

/** Exactly `width` columns: what says least goes first, word by word, until there is room for the standing. */
export function header(state: AppState, width: number): Line {
  const right = standing(state, width);
  const office = officeShown(state);
  const groups = [...counters(office), ...spent(office), ...queued(office), ...lastHour(office)];
  return lineOf(groupsWithin(width - widthOfSpans(right) - 2, groups), right, width);
}

const group = (worth: number, ...spans: readonly Span[]): Group => ({ worth, spans });

/** Each with its word, of which those of nothing go first. */
function counters({ overview, loadedAt }: Office): readonly Group[] {
  return COUNTED.flatMap((status, at) => {
    const { glyph, word, role } = runStyleOf({ status });
    const count = loadedAt === null ? '–' : compact(overview[status]);
    const isQuiet = overview[status] === 0;
    return [
      group(
        100,
        span(`${at === 0 ? ' ' : '  '}${glyph} `, isQuiet ? 'faint' : role),
        span(count, isQuiet ? 'dim' : 'strong'),
      ),
      group(isQuiet ? 25 - at : 35 - at, span(` ${word}`, 'dim')),
    ];
  });
}

function spent({ overview, loadedAt }: Office): readonly Group[] {
  if (loadedAt === null) return [];
  const { total_cost_usd: cost, total_tokens: tokens } = overview;
  return [
    group(90, span('  ')),
    group(12, span(' today', 'dim')),
    group(90, span(` ${money(cost)}`, 'money')),
    group(60, span(` · ${compact(tokens)}`, 'dim')),
    group(14, span(' tokens', 'dim')),
  ];
}

/** Columns of the meter of the slots, and of the graph. */
const METER = 12;
const GRAPH = 24;

function queued({ queue }: Office): readonly Group[] {
  if (queue === null) return [];
  const { busy, slots, total } = queue;
  const [filled, rest] = barOf(slots === 0 ? 0 : busy / slots, METER);
  const meter = [
    span(` ${'━'.repeat(filled)}`, busy >= slots ? 'waiting' : 'running'),
    span('─'.repeat(rest), 'faint'),
  ];
  return [
    group(50, span('  ')),
    group(16, span(' slots', 'dim')),
    group(10, ...meter),
    group(50, span(` ${busy}/${slots}`, 'dim')),
    ...(total > 0 ? [group(55, span(` · queue ${compact(total)}`, 'pending'))] : []),
    ...nodes(queue),
  ];
}

/** How many nodes start runs, of those that are online: nothing while there is only one, which does. */
function nodes({ nodes: count }: NonNullable<Office['queue']>): readonly Group[] {
  if (count === undefined || (count.online <= 1 && count.draining === 0)) return [];
  const all = count.online + count.draining;
  const drains = count.draining > 0;
  const text = ` · nodes ${drains ? `${count.online}/${all}` : all}`;
  return [group(40, span(text, drains ? 'waiting' : 'dim'))];
}

const drawn = new WeakMap<Office['flows'], readonly Span[]>();

/** What all teams used. */
function lastHour({ flows }: Office): readonly Group[] {
  if (flows.size === 0) return [];
  const spans = drawn.get(flows) ?? graph(gather(flowOfAll(flows.values()), GRAPH));
  drawn.set(flows, spans);
  return [group(8, span('   last hour ', 'dim'), ...spans)];
}

function standing({ connection, frozen, now, preferences, office }: AppState, width: number): readonly Span[] {
  const { glyph, text, role } = standingOf(connection, now);
  const clock = clockOf(now + office.skewMs, preferences.tz);
  return [
    ...(frozen === null ? [] : [span('‖ paused  ', 'waiting')]),
    span(`${glyph} ${text}`, role),
    ...(width >= 50 ? [span(`  ${clock}`, 'dim')] : []),
    span(' '),
  ];
}
