// The bus: passes each commit's events to the followers of a run, in the order of the journal, and to the followers of all.
import type { JournalEvent } from '../domain/sessions/journal-event.ts';

type Listener = (events: readonly JournalEvent[]) => void;

export interface Bus {
  /** Takes the events of one commit. */
  publish(events: readonly JournalEvent[]): void;
  /** Calls the listener with a run's events of each commit from now on. */
  subscribe(runSeq: number, listener: Listener): { close(): void };
  /** Calls the listener with all events of each commit from now on. */
  subscribeAll(listener: Listener): void;
}

export function makeBus(): Bus {
  const followers = new Map<number, Set<Listener>>();
  const ofAll: Listener[] = [];

  function deliver(runSeq: number, events: readonly JournalEvent[]): void {
    const listeners = followers.get(runSeq);
    if (listeners === undefined) return;
    // A copy, since a listener may unsubscribe during the call.
    for (const listener of Array.from(listeners)) listener(events);
  }

  return {
    publish: (events) => {
      if (followers.size > 0) for (const [runSeq, own] of byRun(events)) deliver(runSeq, own);
      for (const listener of ofAll) listener(events);
    },
    subscribe: (runSeq, listener) => {
      const listeners = followers.get(runSeq) ?? new Set();
      listeners.add(listener);
      followers.set(runSeq, listeners);
      return {
        close: () => {
          listeners.delete(listener);
          if (listeners.size === 0 && followers.get(runSeq) === listeners) followers.delete(runSeq);
        },
      };
    },
    subscribeAll: (listener) => void ofAll.push(listener),
  };
}

function byRun(events: readonly JournalEvent[]): Map<number, JournalEvent[]> {
  const runs = new Map<number, JournalEvent[]>();
  for (const event of events) {
    if (event.runSeq === null) continue;
    const own = runs.get(event.runSeq);
    if (own === undefined) runs.set(event.runSeq, [event]);
    else own.push(event);
  }
  return runs;
}
