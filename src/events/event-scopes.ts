// The scopes of events: ids of sessions and runs, looked up once for each run.
import type { EventScope, JournalEvent } from '../domain/sessions/journal-event.ts';
import type { SessionEvents } from '../store/journal/session-events.ts';

/** The scope of an event, as the journal has it. */
export type ScopeSeqs = Pick<JournalEvent, 'sessionSeq' | 'runSeq'>;

export interface EventScopes {
  /** Undefined until it has been looked up. */
  known(event: ScopeSeqs): EventScope | undefined;
  /** Looks up the scopes of events; they are known at least until the next look-up. */
  lookUp(events: readonly ScopeSeqs[]): Promise<void>;
}

/** Maximum number of scopes known at once; the oldest are dropped. */
const MOST = 10_000;

export function makeEventScopes(events: Pick<SessionEvents, 'scopeOf'>): EventScopes {
  const scopes = new Map<string, EventScope>();
  const keyOf = ({ sessionSeq, runSeq }: ScopeSeqs) => `${sessionSeq}/${runSeq ?? ''}`;
  const known = (event: ScopeSeqs) => scopes.get(keyOf(event));
  return {
    known,
    lookUp: async (some) => {
      for (const event of some) {
        const scope = known(event) ?? (await events.scopeOf(event.sessionSeq, event.runSeq));
        // Set again, so that it isn't among the oldest.
        scopes.delete(keyOf(event));
        scopes.set(keyOf(event), scope);
        if (scopes.size > MOST) scopes.delete(scopes.keys().next().value!);
      }
    },
  };
}
