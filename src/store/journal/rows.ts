// A row of the journal, and the types of events that lead to streamed text.
import type { EventType } from '../../domain/journal-event.ts';

export interface EventRow {
  id: number;
  session_seq: number;
  run_seq: number | null;
  stream_seq: number | null;
  type: EventType;
  payload: string;
  created_at: number;
}

/** The place of an event that isn't text, in the journal and in its run. */
export type Mark = Pick<EventRow, 'id' | 'stream_seq' | 'type'>;

/** Whether there may be text behind an event. `next`: the run's next that isn't text, where it is known. */
export function mayPrecedeText(mark: Mark, next: Mark | undefined): boolean {
  return next === undefined ? mark.type === 'content_block_start' : next.stream_seq! > mark.stream_seq! + 1;
}
