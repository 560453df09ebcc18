// The line at the top of every screen: the counters of the office, how the view stands with the daemon, and the clock.
import { compact } from '../../domain/figures.ts';
import { clockOf } from '../../terminal/moments.ts';
import { money } from '../../terminal/money.ts';
import { standingOf } from '../state/connection.ts';
import type { Office, RunStatus } from '../state/office.ts';
import { runStyleOf } from '../state/run-style.ts';
import { type AppState, officeShown } from '../state/state.ts';
import { type Line, lineOf, type Span, span, widthOfSpans } from '../text/line.ts';

const COUNTED = ['running', 'pending', 'completed', 'failed', 'idle'] as const satisfies readonly RunStatus[];

/** Exactly `width` columns: the fullest form that leaves room for the standing. */
export function header(state: AppState, width: number): Line {
  const right = standing(state, width);
  const office = officeShown(state);
  const room = width - widthOfSpans(right) - 2;
  const forms = [
    () => [...counters(office, true), ...gap(3), ...spent(office, true), ...queued(office, true)],
    () => [...counters(office, true), ...gap(3), ...spent(office, false), ...queued(office, false)],
    () => [...counters(office, true), ...gap(3), ...spent(office, false)],
    () => [...counters(office, false), ...gap(3), ...spent(office, false), ...queued(office, false)],
    () => [...counters(office, false), ...gap(3), ...spent(office, false)],
    () => counters(office, false),
  ];
  const spans = forms.map((form) => [span(' '), ...form()]);
  return lineOf(spans.find((form) => widthOfSpans(form) <= room) ?? spans.at(-1) ?? [], right, width);
}

const gap = (columns: number) => [span(' '.repeat(columns))];

function counters({ overview, loadedAt }: Office, withWords: boolean): readonly Span[] {
  return COUNTED.flatMap((status, at) => {
    const { glyph, word, role } = runStyleOf({ status });
    const count = loadedAt === null ? '–' : compact(overview[status]);
    const isQuiet = overview[status] === 0;
    return [
      ...(at === 0 ? [] : gap(withWords ? 3 : 2)),
      span(`${glyph} `, isQuiet ? 'faint' : role),
      span(count, isQuiet ? 'dim' : 'strong'),
      ...(withWords ? [span(` ${word}`, 'dim')] : []),
    ];
  });
}

function spent({ overview, loadedAt }: Office, withWords: boolean): readonly Span[] {
  if (loadedAt === null) return [];
  const { total_cost_usd: cost, total_tokens: tokens } = overview;
  return [
    ...(withWords ? [span('today ', 'dim')] : []),
    span(money(cost), 'money'),
    span(` · ${compact(tokens)}${withWords ? ' tokens' : ''}`, 'dim'),
  ];
}

function queued({ queue }: Office, withWords: boolean): readonly Span[] {
  if (queue === null) return [];
  const waiting = queue.total > 0 ? [span(` · queue ${compact(queue.total)}`, 'pending')] : [];
  return [
    ...gap(3),
    span(`${withWords ? 'slots ' : ''}${queue.busy}/${queue.slots}`, 'dim'),
    ...waiting,
    ...nodes(queue),
  ];
}

/** How many nodes start runs, of those that are online: nothing while there is only one, which does. */
function nodes({ nodes: count }: NonNullable<Office['queue']>): readonly Span[] {
  if (count === undefined || (count.online <= 1 && count.draining === 0)) return [];
  const all = count.online + count.draining;
  return [
    span(` · nodes ${count.draining === 0 ? all : `${count.online}/${all}`}`, count.draining === 0 ? 'dim' : 'waiting'),
  ];
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
