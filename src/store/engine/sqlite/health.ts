// The state of the storage: what callers and readiness see of it, and what is reported to operators once.
import { messageOf } from '../../../domain/errors.ts';
import type { StoreAlarms } from '../database.ts';
import { explainToOperator, faultKindOf, refusalOf } from './storage-fault.ts';

export interface Health {
  /** An operation on the file failed. Errors that do not concern the storage are ignored. */
  failed(error: unknown): void;
  /** A commit succeeded. */
  well(): void;
  /** What is wrong, as a message for callers. Damage stays; anything else is cleared by the next commit. */
  fault(): string | null;
  /** Why nothing may be written any more. */
  lost(): unknown;
}

export function makeHealth(file: string, alarms: StoreAlarms): Health {
  let fault: string | null = null;
  let damage: string | null = null;
  let lost: unknown;

  return {
    failed: (error) => {
      const kind = faultKindOf(error);
      if (kind === undefined || lost !== undefined) return;
      const words = messageOf(refusalOf(error));
      const isNew = words !== fault && words !== damage;
      fault = words;
      if (kind === 'damaged') damage = words;
      const explained = explainToOperator(error, file);
      if (isNew) alarms.trouble(messageOf(explained));
      if (kind !== 'lost') return;
      lost = error;
      alarms.lost(explained);
    },
    well: () => {
      fault = damage;
    },
    fault: () => fault,
    lost: () => lost,
  };
}
