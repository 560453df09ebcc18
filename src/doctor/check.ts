// One check of an examination, and the words that it returns.
import type { StoreLocation } from '../store/location.ts';
import type { Finding, FindingState } from '../operations/doctor.ts';
import type { Subject } from './subject.ts';

/** What a check found. */
export type CheckResult = Pick<Finding, 'state' | 'evidence' | 'remedy'>;

export interface Check {
  readonly id: string;
  readonly title: string;
  /** Of the databases that it concerns; of all when it names none. */
  readonly engine?: StoreLocation['kind'];
  /** May throw: a check that can't be made has failed itself. */
  examine(subject: Subject): CheckResult | Promise<CheckResult>;
}

export const ok = (evidence: string): CheckResult => ({ state: 'ok', evidence, remedy: null });
export const skipped = (evidence: string): CheckResult => ({ state: 'skipped', evidence, remedy: null });
export const warning = (evidence: string, remedy: string): CheckResult => ({ state: 'warning', evidence, remedy });
export const failed = (evidence: string, remedy: string): CheckResult => ({ state: 'failed', evidence, remedy });

const GRAVITY: Readonly<Record<FindingState, number>> = { failed: 3, warning: 2, ok: 1, skipped: 0 };

/** Several findings of one check as one: the gravest state, its remedies, and the evidence of the grave ones. */
export function together(found: readonly CheckResult[], allIsWell: string): CheckResult {
  const grave = found.filter(({ state }) => GRAVITY[state] > GRAVITY.ok);
  if (grave.length === 0) return ok(allIsWell);
  const worst = grave.reduce((one, other) => (GRAVITY[other.state] > GRAVITY[one.state] ? other : one));
  const remedies = [...new Set(grave.flatMap(({ remedy }) => remedy ?? []))];
  return {
    state: worst.state,
    evidence: grave.map(({ evidence }) => evidence).join('; '),
    remedy: remedies.length === 0 ? null : remedies.join('\n'),
  };
}
