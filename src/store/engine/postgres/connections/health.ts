// The state of the database: what callers and readiness see of it, and what is reported to operators once.
import { messageOf } from '../../../../domain/errors.ts';
import type { StoreAlarms } from '../../database.ts';
import { explainToOperator, faultKindOf, refusalOf } from './faults.ts';

export interface Health {
  /** Something failed. Errors that do not concern the database are ignored. */
  failed(error: unknown): void;
  /** A commit succeeded. */
  well(): void;
  /** What is wrong, as a message for callers; the next commit clears it. */
  fault(): string | null;
  /** For how many milliseconds a verb waits for a database that is away. */
  patienceMs(): number;
  /** Nothing may be written any more. */
  lose(error: unknown): void;
  /** Why; undefined when it may. */
  lost(): unknown;
}

/** How long a database may be away before verbs are refused; those that come after are refused at once, until it is back. */
const PATIENCE_MS = 5_000;

/** `name`: of the database, for operators. */
export function makeHealth(name: string, alarms: StoreAlarms): Health {
  let fault: string | null = null;
  let lost: unknown;
  return {
    failed: (error) => {
      if (faultKindOf(error) === undefined) return;
      const words = messageOf(refusalOf(error));
      if (words !== fault) alarms.trouble(messageOf(explainToOperator(error, name)));
      fault = words;
    },
    well: () => {
      fault = null;
    },
    fault: () => fault,
    patienceMs: () => (fault === null ? PATIENCE_MS : 0),
    lose: (error) => {
      if (lost !== undefined) return;
      lost = error;
      alarms.lost(explainToOperator(error, name));
    },
    lost: () => lost,
  };
}
