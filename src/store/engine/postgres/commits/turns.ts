// Processes that share a database write in turns: what takes one, and what a process learns with it.
import { ErrandError } from '../../../../domain/errors.ts';
import type { Sharing } from '../../database.ts';
import type { Value } from '../../statement.ts';
import { LOCKS } from '../opening/lock.ts';
import { SERVER_NOW } from '../sql/dialect.ts';
import type { StreamSeqs } from './journal.ts';

/** Those of one process. */
export interface Turns {
  /** The next one. `knownId`: of the last event before which all are known here. */
  next(knownId: number): Turn;
  /** Whether the process has lost what is in progress when no node's row has it. */
  fence(isOn: boolean): void;
}

/** One transaction of a process. */
export interface Turn {
  /**
   * Statements that wait for it. Each transaction finds what those before it have committed, and numbers of events rise in the order in
   * which they become visible.
   */
  readonly take: string;
  /** The statement of the transaction's number. It also tells to which runs others have written, and what is left of the node. */
  readonly ask: string;
  /** Takes its answer. Throws `LostNode`. */
  begun(answer: readonly Value[], streamSeqs: Pick<StreamSeqs, 'forget'>): void;
}

/** Another process took the node for lost, and its runs with it. */
export class LostNode extends ErrandError {
  constructor() {
    super('unavailable', WORDS);
  }
}

const WORDS =
  'The other daemons took this node for lost, as it gave no sign of life for 15 s, and its runs have gone on elsewhere. It has to start again.';

/** More events of others than these are not looked at one by one. */
const MANY = 1_000;

const TAKE = `SELECT pg_advisory_xact_lock(${LOCKS.class}, ${LOCKS.turn});`;

export function makeTurns({ process, follow }: Sharing): Turns {
  let isFenced = false;
  const own = `(SELECT count(*) FROM worker_nodes WHERE process = '${process}')`;
  return {
    next: (knownId) => ({
      take: TAKE,
      ask: `SELECT pg_current_xact_id(), count(*), string_agg(DISTINCT run_seq::text, ' '), ${SERVER_NOW}, ${isFenced ? own : '1'}
        FROM (SELECT run_seq FROM events WHERE id > ${knownId} ORDER BY id DESC LIMIT ${MANY}) AS others`,
      begun: ([, count, runs, now, nodes], streamSeqs) => {
        if (Number(nodes) === 0) throw new LostNode();
        follow(Number(now));
        streamSeqs.forget(Number(count) >= MANY ? 'all' : runs === null ? [] : String(runs).split(' ').map(Number));
      },
    }),
    fence: (isOn) => {
      isFenced = isOn;
    },
  };
}
