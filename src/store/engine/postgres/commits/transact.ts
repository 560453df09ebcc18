// One transaction on PostgreSQL: the verbs of a group, one after another, and the events that they add to the journal.
import type { Clock } from '../../../../domain/clock.ts';
import type { JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import type { Scope } from '../../database.ts';
import { type Step, StepTransaction, type Transaction } from '../../statement.ts';
import type { Connection } from '../connections/connection.ts';
import { carryOut, makePipeline } from '../statements/execute.ts';
import { isAnswer } from '../connections/faults.ts';
import { makeAddedEvents, type StreamSeqs } from './journal.ts';
import type { Keys } from '../statements/keys.ts';
import type { Turn } from './turns.ts';

/**
 * How it ended. `undone`: none of it was kept. `unknown`: the connection was lost after the commit was sent, so only the server knows,
 * by the number of the transaction.
 */
export type Outcome =
  | { readonly kind: 'committed'; readonly results: Results; readonly events: readonly JournalEvent[] }
  | { readonly kind: 'undone'; readonly error: unknown }
  | {
      readonly kind: 'unknown';
      readonly error: unknown;
      readonly id: string;
      readonly results: Results;
      /** Whether it has added any event. */
      readonly emits: boolean;
    };

/** What returns the results of the verbs that were carried out, once they are committed; those that had no time are missing. */
export type Results = ReadonlyMap<ScopedVerb, () => unknown>;

interface Parts {
  readonly clock: Clock;
  readonly streamSeqs: StreamSeqs;
  readonly keys: Keys;
  /** Names this process among those that write. */
  readonly writer: string;
  /** Where others write as well. */
  readonly turn: Turn | null;
  /** For a lock of another client. */
  readonly hasWaited: boolean;
}

/** A call of a verb. */
export interface ScopedVerb {
  readonly scope: Scope;
  verb(tx: Transaction): Step<unknown>;
}

/** Begins it, and asks for its number, by which its fate can be asked for. Verbs that have waited for a lock together are refused soon what is still locked. */
const begin = ({ turn, hasWaited }: Parts): string => `BEGIN;
  ${turn === null ? '' : turn.take}
  ${hasWaited ? 'SET LOCAL lock_timeout = 100;' : ''}
  ${turn === null ? 'SELECT pg_current_xact_id()' : turn.ask}`;

/** What a transaction without events leaves behind. */
const MARK = {
  name: 'mark',
  text: `INSERT INTO last_transactions (writer, number) VALUES ($1, pg_current_xact_id())
    ON CONFLICT (writer) DO UPDATE SET number = excluded.number`,
};

/** After so long a transaction begins no further verb: those that are done wait for its end. */
const WORK_MS = 25;

/**
 * Carries out verbs in one transaction: the first, and those that begin before it has taken too long. BEGIN rides with the first
 * statement, and COMMIT with the last ones.
 */
export async function transact(connection: Connection, verbs: readonly ScopedVerb[], parts: Parts): Promise<Outcome> {
  const pipeline = makePipeline(connection, { keys: parts.keys, beforeEvents: () => journal.send() });
  const journal = makeAddedEvents(pipeline, parts.streamSeqs);
  parts.keys.refill(connection);
  const begun = pipeline.say(begin(parts));
  const { turn, clock } = parts;
  /** Null until its turn has come, which may take longer than that. */
  let endsAt = turn === null ? clock.monotonic() + WORK_MS : null;
  const inTurn = begun.then(
    ({ rows }) => {
      if (turn === null) return;
      endsAt = clock.monotonic() + WORK_MS;
      turn.begun(rows[0]!, parts.streamSeqs);
    },
    () => undefined,
  );
  // The verbs learn of it.
  inTurn.catch(() => undefined);
  const results = new Map<ScopedVerb, () => unknown>();
  const all = await sideBySide(verbs, async (verb) => {
    // Once this is so it stays so: what waits for a verb that hasn't begun doesn't begin, either.
    if (verb !== verbs[0] && endsAt !== null && clock.monotonic() >= endsAt) return;
    const tx = new StepTransaction(clock.now());
    const result = await carryOut(pipeline, verb.verb(tx));
    if (turn !== null) await inTurn;
    await journal.add(tx);
    results.set(verb, () => {
      for (const work of tx.afterwards) work();
      return result;
    });
  });
  const number = await begun.catch(() => null);
  const failed = all.find((one) => one.status === 'rejected');
  if (failed !== undefined || number === null) {
    connection.say('ROLLBACK').catch(() => undefined);
    return { kind: 'undone', error: pipeline.failure() ?? failed?.reason };
  }
  const id = number.rows[0]![0] as string;
  journal.send();
  if (journal.isEmpty()) pipeline.send(MARK, [parts.writer]);
  try {
    // After a statement that failed, the server answers it with ROLLBACK.
    const { command } = await pipeline.say('COMMIT');
    if (command !== 'COMMIT') return { kind: 'undone', error: pipeline.failure() };
    return { kind: 'committed', results, events: await journal.written() };
  } catch (error) {
    if (isAnswer(error)) return { kind: 'undone', error };
    return { kind: 'unknown', error, id, results, emits: !journal.isEmpty() };
  }
}

/**
 * Carries out verbs side by side, each behind those before it that have a session in common with it, so that each finds what it would
 * find if it were alone. They settle all, so that no statement follows the end of the transaction.
 */
function sideBySide<Result>(verbs: readonly ScopedVerb[], carry: (verb: ScopedVerb) => Promise<Result>) {
  const started: Promise<Result>[] = [];
  const lastOf = new Map<number, Promise<unknown>>();
  let barrier: Promise<unknown> = Promise.resolve();
  for (const verb of verbs) {
    const { scope } = verb;
    const before = scope === 'all' ? started : [barrier, ...scope.flatMap((session) => lastOf.get(session) ?? [])];
    const done = Promise.all(before).then(() => carry(verb));
    started.push(done);
    if (scope === 'all') barrier = done;
    else for (const session of scope) lastOf.set(session, done);
  }
  return Promise.allSettled(started);
}
