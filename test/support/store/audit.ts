// The audit log of a test's store.
import type { Log } from '../../../src/log/log.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeAudit } from '../../../src/operations/audit/audit.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { fakeClock } from '../time/fake-clock.ts';

/** Stands for the key that seals the log. */
export const deriveSealKey = () => Buffer.alloc(32, 5);

export function auditOf(parts: { readonly store: Pick<Store, 'audit'>; readonly clock?: Clock; readonly log?: Log }) {
  return makeAudit({ clock: fakeClock(), log: makeLog({ level: 'fatal' }), ...parts, deriveKey: deriveSealKey });
}
