// The events of a session in memory: in order, each once, bounded at either end, with gaps found. Pure.
import type { OfficeEvent } from '../../client/office-stream.ts';
import type { OfficeEventsWire } from '../../client/office.ts';
import { type DeskState, EMPTY_LOG, type EventLog } from '../state/desk-state.ts';

export const MAX_EVENTS = 5000;
/** So many go at once: whatever is made of the events is made anew then. */
const SURPLUS = 1000;

/** Where events of a run are missing: from this `stream_seq` on. */
export interface Gap {
  readonly runId: string;
  readonly from: number;
}

/** The log after events of the stream. They are left out while the user looks at a past that has no room for them. */
export function append(log: EventLog, events: readonly OfficeEvent[]): EventLog {
  return log.isAtEnd && events.length > 0 ? keepNewest(merge(log, events)) : log;
}

/** The log that begins with the newest page. */
export function newestPage({ items, has_more: hasOlder }: OfficeEventsWire): EventLog {
  return { ...merge(EMPTY_LOG, items), hasOlder };
}

/** The log with an older page before it; what has no room any more is newer, and is read again on the way back. */
export function prependPage(log: EventLog, { items, has_more: hasOlder }: OfficeEventsWire): EventLog {
  const merged = { ...merge(log, items), hasOlder };
  if (merged.events.length <= MAX_EVENTS) return merged;
  const events = merged.events.slice(0, MAX_EVENTS);
  return { events, lastSeqs: seqsOf(events), isAtEnd: false, hasOlder };
}

/** The log with a newer page after it. */
export function appendPage(log: EventLog, { items, has_more: hasNewer }: OfficeEventsWire): EventLog {
  return keepNewest({ ...merge(log, items), isAtEnd: !hasNewer });
}

/** The gap before an event: undefined where it follows what is known of its run, or nothing is. */
export function gapBefore(lastSeqs: ReadonlyMap<string, number>, event: OfficeEvent): Gap | undefined {
  const { run_id: runId, stream_seq: seq } = event;
  const last = runId === null ? undefined : lastSeqs.get(runId);
  return runId === null || seq === null || last === undefined || seq <= last + 1
    ? undefined
    : { runId, from: last + 1 };
}

function keepNewest(log: EventLog): EventLog {
  if (log.events.length <= MAX_EVENTS) return log;
  return { ...log, events: log.events.slice(SURPLUS - MAX_EVENTS), hasOlder: true };
}

function merge(log: EventLog, added: readonly OfficeEvent[]): EventLog {
  const last = log.events.at(-1)?.id ?? 0;
  const isNewer = added.every(({ id }, at) => id > (added[at - 1]?.id ?? last));
  const events = isNewer ? [...log.events, ...added] : inOrder([...log.events, ...added]);
  return { ...log, events, lastSeqs: seqsOf(added, log.lastSeqs) };
}

function inOrder(events: readonly OfficeEvent[]): readonly OfficeEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => a.id - b.id);
}

function seqsOf(events: readonly OfficeEvent[], before: ReadonlyMap<string, number> = new Map()) {
  const seqs = new Map(before);
  for (const { run_id: runId, stream_seq: seq } of events) {
    if (runId !== null && seq !== null) seqs.set(runId, Math.max(seq, seqs.get(runId) ?? 0));
  }
  return seqs;
}

const cuts = new WeakMap<EventLog, { readonly at: number; readonly events: readonly OfficeEvent[] }>();

/** The events to show: all, or those up to where the view was paused. */
export function shownEvents({ log, pausedAt }: Pick<DeskState, 'log' | 'pausedAt'>): readonly OfficeEvent[] {
  if (pausedAt === null || (log.events.at(-1)?.id ?? 0) <= pausedAt) return log.events;
  const known = cuts.get(log);
  if (known?.at === pausedAt) return known.events;
  const events = log.events.slice(0, log.events.findLastIndex(({ id }) => id <= pausedAt) + 1);
  cuts.set(log, { at: pausedAt, events });
  return events;
}
