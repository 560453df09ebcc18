// A row of the journal, and the types of events that lead to streamed text.
import type { EventType, JournalEvent } from '../../../domain/sessions/journal-event.ts';

export interface EventRow {
  id: number;
  sessionSeq: number;
  runSeq: number | null;
  streamSeq: number | null;
  type: EventType;
  payload: string;
  createdAt: number;
}

/** An event that this version has written. */
export const eventOf = ({ payload, ...row }: EventRow): JournalEvent =>
  ({ ...row, payload: JSON.parse(payload) as unknown }) as JournalEvent;

export interface RunOfSession {
  readonly seq: number;
  readonly id: string;
}

/** An event without its content, which may be long, and without what is stored behind that. */
export interface EventHead extends Pick<EventRow, 'id' | 'sessionSeq' | 'runSeq' | 'streamSeq' | 'type'> {
  /** Null in events that belong to the session alone. */
  readonly runId: string | null;
  /** Of the payload, as it is stored. */
  readonly bytes: number;
}

/** The columns of events `e`. Those of their runs are read beside them. */
export const HEAD = 'e.id, e.session_seq, e.run_seq, e.stream_seq, e.type, octet_length(e.payload) AS bytes';

export type RowOfSession = EventRow & Pick<EventHead, 'runId'>;

/** The place of an event that isn't text, in the journal and in its run. */
export type Mark = Pick<EventRow, 'id' | 'streamSeq' | 'type'>;

/** Events behind which a run may stream text until its next event. */
export const BEFORE_TEXT: ReadonlySet<EventType> = new Set(['run.started', 'content_block_start']);

/** Whether there may be text behind an event. `next`: the run's next that isn't text, where it is known. */
export function mayPrecedeText(mark: Mark, next: Mark | undefined): boolean {
  return next === undefined ? BEFORE_TEXT.has(mark.type) : next.streamSeq! > mark.streamSeq! + 1;
}
