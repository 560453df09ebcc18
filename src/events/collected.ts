// Sessions whose files may be known now: those that this process has looked at, and those of which another one reports it in the journal.
import type { EventType } from '../domain/sessions/journal-event.ts';
import type { Bus } from './bus.ts';

/** Calls a listener with each of them, until the result is called. */
export type OnCollected = (listener: (sessionSeq: number) => void) => () => void;

/** Reported when, or soon after, the files of a run or of its session are known. */
const KNOWN: ReadonlySet<EventType> = new Set([
  'artifacts.ready',
  'artifacts.failed',
  'workspace_export.completed',
  'workspace_export.failed',
]);

/** Hears of all. `own`: of those that this process looks at, also where there is nothing to report. */
export function collectedOfAll(own: OnCollected, bus: Pick<Bus, 'subscribeAll'>): OnCollected {
  const listeners = new Set<(sessionSeq: number) => void>();
  bus.subscribeAll((events) => {
    for (const { type, sessionSeq } of events)
      if (KNOWN.has(type)) for (const listener of listeners) listener(sessionSeq);
  });
  return (listener) => {
    const ignore = own(listener);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      ignore();
    };
  };
}
