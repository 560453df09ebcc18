// Reads the journal.
import type { EventType, JournalEvent, NewEvent } from '../../domain/sessions/journal-event.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { retellIn } from './retold-run.ts';
import type { EventRow } from '../engine/journal/rows.ts';
import type { JournalPage } from './pages.ts';
import { listOfRun } from './run-pages.ts';
import { type PageOfRows, parsed, wholeRows } from './whole-rows.ts';

/** Length of an output's `preview` in earlier versions. */
const PREVIEW_CHARACTERS = 1_000;

/** Defaults for what events of earlier versions lack. */
const DEFAULTS: { readonly [T in EventType]?: (stored: JsonObject) => object } = {
  'run.step': () => ({ textPreview: '', calls: [] }),
  tool_result: ({ preview: output = '' }) => ({
    output,
    ...(typeof output === 'string' && output.length === PREVIEW_CHARACTERS && { truncated: true }),
  }),
  message: () => ({ role: 'assistant', textPreview: '' }),
  'user_input.answered': () => ({ toolName: '', expiresAt: null }),
  'user_input.expired': () => ({ toolName: '', expiresAt: null }),
  'insight.status_changed': () => ({ runId: null }),
};

/** A payload as it was stored, with what an earlier version left out. */
export function payloadOf({ type, payload }: Pick<EventRow, 'type' | 'payload'>): object {
  const stored = JSON.parse(payload) as JsonObject;
  return { ...DEFAULTS[type]?.(stored), ...stored };
}

export function toEvent(row: EventRow): JournalEvent {
  const payload = payloadOf(row);
  return {
    ...({ type: row.type, payload } as unknown as NewEvent),
    id: row.id,
    sessionSeq: row.sessionSeq,
    runSeq: row.runSeq,
    streamSeq: row.streamSeq,
    createdAt: row.createdAt,
  };
}

export type EventsOfRun = JournalPage<JournalEvent>;

/** What the journal has of a run; `retold` where that was removed. */
type Found = { readonly rows: PageOfRows } | { readonly retold: readonly JournalEvent[] };

export type Events = ReturnType<typeof makeEvents>;

/** The verbs that read the journal. */
export function makeEvents({ read }: Database) {
  const rowsOfRun = read(function* (tx: Reader, runSeq: number, afterId: number, limit: number): Step<Found> {
    const range = { afterId, beforeId: null, order: 'asc', limit } as const;
    const heads = yield* listOfRun(tx, { seq: runSeq, id: '' }, range);
    const retold = heads[0]?.streamSeq === 1 ? undefined : yield* retellIn(tx, runSeq, afterId);
    return retold === undefined ? { rows: yield* wholeRows(tx, heads) } : { retold };
  });

  return {
    /**
     * Up to `limit` events of a run with an id above `afterId`, in order. When they were removed by age: the run as it is told
     * from its other rows, or `not_found` for a reader that has a part.
     */
    listOfRun: async (runSeq: number, afterId: number, limit: number): Promise<EventsOfRun> => {
      const found = await rowsOfRun(runSeq, afterId, limit);
      return 'rows' in found ? parsed(found.rows, toEvent) : { events: found.retold, isCut: false };
    },

    /** Whether a run has ended. When its terminal event can't be read, its session was deleted. */
    isOver: read(function* (tx: Reader, runSeq: number): Step<boolean> {
      return (yield* tx.get('SELECT 1 FROM runs WHERE seq = ? AND finished_at IS NOT NULL', runSeq)) !== undefined;
    }),
  };
}
