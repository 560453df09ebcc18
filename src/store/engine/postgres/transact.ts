// One transaction on PostgreSQL: the verbs of a group, one after another, and the events that they add to the journal.
import type { Clock } from '../../../domain/clock.ts';
import type { JournalEvent } from '../../../domain/sessions/journal-event.ts';
import { type Step, StepTransaction, type Transaction } from '../statement.ts';
import type { Connection } from './connection.ts';
import { carryOut, makePipeline } from './execute.ts';
import { faultKindOf } from './faults.ts';
import { sendEvents, type StreamSeqs } from './journal.ts';

/**
 * How it ended. `undone`: none of it was kept. `unknown`: the connection was lost after the commit was sent, so only the server knows,
 * by the number of the transaction.
 */
export type Outcome =
  | { readonly kind: 'committed'; readonly results: readonly unknown[]; readonly events: readonly JournalEvent[] }
  | { readonly kind: 'undone'; readonly error: unknown }
  | { readonly kind: 'unknown'; readonly error: unknown; readonly id: string; readonly results: readonly unknown[] };

interface Parts {
  readonly clock: Clock;
  readonly streamSeqs: StreamSeqs;
}

type Verb = (tx: Transaction) => Step<unknown>;

/** Begins it, and asks for its number, by which its fate can be asked for. */
const BEGIN = 'BEGIN; SELECT pg_current_xact_id()';

/** Carries out verbs in one transaction. BEGIN rides with the first statement, and COMMIT with the last ones. */
export async function transact(connection: Connection, verbs: readonly Verb[], parts: Parts): Promise<Outcome> {
  const pipeline = makePipeline(connection);
  const begun = pipeline.say(BEGIN);
  begun.catch(() => undefined);
  const results: unknown[] = [];
  const events: (() => Promise<readonly JournalEvent[]>)[] = [];
  let id: string;
  try {
    for (const verb of verbs) {
      const tx = new StepTransaction(parts.clock.now());
      results.push(await carryOut(pipeline, verb(tx)));
      events.push(await sendEvents(pipeline, parts.streamSeqs, tx));
    }
    id = (await begun).rows[0]![0] as string;
  } catch (error) {
    connection.say('ROLLBACK').catch(() => undefined);
    return { kind: 'undone', error: pipeline.failure() ?? error };
  }
  try {
    // After a statement that failed, the server answers it with ROLLBACK.
    const { command } = await pipeline.say('COMMIT');
    if (command !== 'COMMIT') return { kind: 'undone', error: pipeline.failure() };
    const written: JournalEvent[] = [];
    for (const ofVerb of events) written.push(...(await ofVerb()));
    return { kind: 'committed', results, events: written };
  } catch (error) {
    if (faultKindOf(error) === 'away') return { kind: 'unknown', error, id, results };
    return { kind: 'undone', error };
  }
}
