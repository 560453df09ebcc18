// The audit log as administrators read it.
import type { AuditEntry } from '../../domain/people/audit.ts';
import type { Listing } from '../../domain/listing.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { AuditFilter, AuditHead, AuditPage } from '../../store/audit/audit-entries.ts';
import type { Store } from '../../store/open-store.ts';
import { makeSeal } from './audit.ts';
import type { AnchorKeeper } from './keep-anchor.ts';

/** `actor` is a username, an id, or `operator` for the one behind the control socket; null means no filter. */
export type AuditQuery = AuditFilter & AuditPage;

export interface AuditLogParts {
  readonly store: Pick<Store, 'audit' | 'users'>;
  readonly deriveKey: DeriveKey;
  readonly anchor: Pick<AnchorKeeper, 'read'>;
}

/** The end of the log, and what its anchor says of it. */
export interface AnchoredHead extends AuditHead {
  readonly anchor: Awaited<ReturnType<AnchorKeeper['read']>>;
}

/** The verbs on the log. */
export function makeAuditLogOperations({ store, deriveKey, anchor }: AuditLogParts) {
  const seal = makeSeal(deriveKey);
  return {
    /** Throws `not_found` for an unknown actor. */
    listAuditEntries: async (
      _caller: Administrator,
      { actor: named, beforeId, afterId, limit, ...filter }: AuditQuery,
    ): Promise<Listing<AuditEntry>> => {
      const actor = named === null || named === 'operator' ? named : (await store.users.get(named)).id;
      return store.audit.list({ ...filter, actor }, { beforeId, afterId, limit });
    },

    /** The end of the log, and whether it is as the daemon wrote it. */
    getAuditHead: async (_caller: Administrator): Promise<AnchoredHead> => {
      // The anchor first: it may move meanwhile, and must not be ahead of what is compared with it.
      const found = await anchor.read();
      return { ...(await store.audit.getHead(seal)), anchor: found };
    },
  };
}
