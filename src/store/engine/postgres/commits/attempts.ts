// Carries a group of verbs out until it is committed, or undone for a reason that stays: never twice.
import { type Clock, pauseAlive } from '../../../../domain/clock.ts';
import { eventsOf } from './fate.ts';
import { faultKindOf } from '../connections/faults.ts';
import type { Health } from '../connections/health.ts';
import { makeStreamSeqs } from './journal.ts';
import { makeKeys, NO_KEYS } from '../statements/keys.ts';
import { type Outcome, type ScopedVerb, transact } from './transact.ts';
import { LostNode, type Turns } from './turns.ts';
import type { Writer } from './writer.ts';

export interface Attempts {
  /** Rejects when there is no connection. `hasWaited`: for a lock of another client already. */
  commit(group: readonly ScopedVerb[], hasWaited: boolean): Promise<Outcome>;
}

interface Parts {
  readonly clock: Clock;
  readonly writer: Writer;
  readonly health: Health;
  /** Names this process among those that write. */
  readonly name: string;
  /** Null where no other process writes. */
  readonly turns: Turns | null;
  /** Called before a transaction is carried out once more. */
  repeated(): void;
}

/** How often a transaction is carried out before its verbs are refused, and the first pause between, which doubles. */
const [TRIES, PAUSE_MS] = [6, 20];

export function makeAttempts({ clock, writer, health, name, turns, repeated }: Parts): Attempts {
  const [streamSeqs, keys] = [makeStreamSeqs(), turns === null ? makeKeys() : NO_KEYS];

  /** Finds out whether a transaction was kept whose connection was lost. */
  async function decided(outcome: Outcome): Promise<Outcome> {
    if (outcome.kind !== 'unknown') return outcome;
    const { error, id, results, emits } = outcome;
    try {
      const events = await eventsOf({ id, writer: name, emits }, writer, clock);
      return events === null ? { kind: 'undone', error } : { kind: 'committed', results, events };
    } catch (cause) {
      health.lose(cause);
      throw cause;
    }
  }

  return {
    commit: async (group, hasWaited) => {
      for (let tries = 1; ; tries += 1) {
        const outcome = await decided(
          await transact(await writer.connection(), group, {
            clock,
            streamSeqs,
            writer: name,
            turn: turns?.next(writer.lastId()) ?? null,
            keys,
            hasWaited,
          }),
        );
        if (outcome.kind === 'committed') return outcome;
        if (outcome.error instanceof LostNode) health.lose(outcome.error);
        streamSeqs.forget('all');
        const kind = faultKindOf(outcome.error);
        const mayRepeat = kind === 'away' || (kind === 'again' && group.length === 1);
        if (!mayRepeat || tries === TRIES) return outcome;
        repeated();
        await pauseAlive(clock, PAUSE_MS * 2 ** (tries - 1));
      }
    },
  };
}
