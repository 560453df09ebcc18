// The rounds beside a session's events: which run each is of, and which are needed next. Pure.
import type { DeskState } from '../state/desk-state.ts';
import { shownEvents } from './event-log.ts';
import type { Rounds } from './sources.ts';

export type Round = Rounds['items'][number];

const byRuns = new WeakMap<Rounds, ReadonlyMap<string, Round>>();

/** Undefined pages haven't been read yet. */
export function roundsByRun(pages: Rounds | undefined): ReadonlyMap<string, Round> {
  if (pages === undefined) return new Map();
  const known = byRuns.get(pages) ?? new Map(pages.items.map((round) => [round.run_id, round]));
  byRuns.set(pages, known);
  return known;
}

/** Those of the past where runs begin whose rounds are older than those that are known; and back at the end, the newest, which gave way to them. */
export function nextRounds(
  screen: DeskState,
  pages: Rounds | undefined,
  isAtEnd: boolean,
): 'older' | 'newest' | undefined {
  const first = shownEvents(screen).find(({ type }) => type === 'run.queued')?.run_id;
  if (pages === undefined || first === undefined || first === null) return undefined;
  const known = roundsByRun(pages);
  const oldest = pages.items[0]?.run_id;
  const isOlder = !screen.log.isAtEnd || screen.log.events.some(({ run_id: id }) => id === oldest);
  if (!known.has(first) && isOlder && pages.hasOlder) return 'older';
  return !pages.isAtEnd && screen.log.isAtEnd && isAtEnd ? 'newest' : undefined;
}
