// Counts committed events as they come; runs that have ended are read from their rows later, many at a time.
import { type EventType, type JournalEvent, TERMINAL_EVENTS } from '../../domain/sessions/journal-event.ts';
import type { Store } from '../../store/open-store.ts';
import type { RunEnd } from '../../store/telemetry/metric-reads.ts';
import type { Meters } from './meters.ts';

/** Runs that have ended and are read at once, and how many may wait for that. */
const ENDS_PER_READ = 200;
const MAX_ENDS = 20_000;

export interface EventCounts {
  /** Takes the events of a commit. Costs little: it only adds. */
  take(events: readonly JournalEvent[]): void;
  /** Moves what was counted to the meters. */
  flush(): Promise<void>;
}

export function makeEventCounts(store: Pick<Store, 'metrics'>, meters: Meters): EventCounts {
  const types = new Map<EventType, number>();
  const tools = { ok: 0, error: 0 };
  let ended: number[] = [];

  function take(events: readonly JournalEvent[]): void {
    for (const event of events) {
      types.set(event.type, (types.get(event.type) ?? 0) + 1);
      if (event.type === 'tool_result') tools[event.payload.ok ? 'ok' : 'error'] += 1;
      if (event.runSeq !== null && TERMINAL_EVENTS.has(event.type) && ended.length < MAX_ENDS) ended.push(event.runSeq);
    }
  }

  async function flushEnds(): Promise<void> {
    const until = ended.length;
    for (let taken = 0; taken < until; taken += ENDS_PER_READ) {
      const some = ended.slice(0, Math.min(ENDS_PER_READ, until - taken));
      const ends = await store.metrics.endsOf(some);
      // Not before they are read: a storage that refuses now may reply at the next flush.
      ended = ended.slice(some.length);
      for (const end of ends) count(end);
    }
  }

  function count({ status, mode, startedAt, finishedAt }: RunEnd): void {
    meters.add('errand_runs_total', { status, mode }, 1);
    if (startedAt === null) return;
    meters.observe('errand_run_duration_seconds', {}, Math.max(0, finishedAt - startedAt) / 1_000);
  }

  return {
    take,
    flush: async () => {
      for (const [type, count] of types) meters.add('errand_events_total', { type }, count);
      types.clear();
      for (const outcome of ['ok', 'error'] as const) {
        meters.add('errand_tool_calls_total', { outcome }, tools[outcome]);
        tools[outcome] = 0;
      }
      await flushEnds();
    },
  };
}
