// Shares, for their owners: when they end, and their withdrawal (F7).
import type { Happened } from '../../events/wakes.ts';
import type { Clock } from '../../domain/clock.ts';
import { notFound, unprocessable } from '../../domain/errors.ts';
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { VersionRecord } from '../../store/publishing/page-rows.ts';
import { type Access, scopeOf } from '../access.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** Null leaves a filter out. */
export interface ShareQuery extends ListPage {
  readonly pageKey: string | null;
}

export interface ShareOperationParts {
  readonly store: Pick<Store, 'shares'>;
  readonly access: Pick<Access, 'share'>;
  readonly auditedAccess: Pick<AuditedAccess, 'page' | 'share'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly clock: Clock;
  readonly happened: Happened;
}

/** The verbs. Those that take a code throw as `Access.share` does. */
export function makeShareOperations({ store, access, auditedAccess, audit, clock, happened }: ShareOperationParts) {
  /** What is known of a share now. Someone else may delete its page meanwhile. */
  async function recordOf(code: string): Promise<VersionRecord> {
    const share = await store.shares.find(code, clock.now());
    if (share === undefined) throw notFound('Share');
    return share;
  }

  return {
    /** The shares within the caller's reach, or of one page, the newest first. */
    listShares: async (caller: Caller, { pageKey, ...page }: ShareQuery): Promise<Listing<VersionRecord>> => {
      const pageId = pageKey === null ? null : (await auditedAccess.page(caller, pageKey)).id;
      return store.shares.list(
        { ...page, userSeq: pageId === null ? scopeOf(caller).userSeq : null, pageId },
        clock.now(),
      );
    },

    getShare: async (caller: Caller, code: string): Promise<VersionRecord> => {
      await auditedAccess.share(caller, code);
      return recordOf(code);
    },

    /** Sets when it ends, epoch ms; null for never. Throws `unprocessable` for the past, `conflict` after a withdrawal. */
    changeShare: async (
      caller: Caller,
      code: string,
      { expiresAt }: { readonly expiresAt: number | null },
    ): Promise<VersionRecord> => {
      await access.share(caller, code);
      if (expiresAt !== null && expiresAt <= clock.now())
        throw unprocessable('expires_at', 'must be in the future, or null for never');
      await store.shares.setEnd(
        code,
        expiresAt,
        audit.change(caller, 'share.change', () => ({ id: code })),
      );
      happened('share changed');
      return recordOf(code);
    },

    /** Withdraws it for good; the second time, nothing changes. Its bytes are removed in the background. */
    withdrawShare: async (caller: Caller, code: string): Promise<VersionRecord> => {
      await access.share(caller, code);
      const targetOf = (isWithdrawn: boolean) => (isWithdrawn ? { id: code } : undefined);
      const isWithdrawn = await store.shares.withdraw(code, audit.change(caller, 'share.withdraw', targetOf));
      // Then the reply is all that happens.
      if (!isWithdrawn) await auditedAccess.share(caller, code);
      happened('share changed');
      return recordOf(code);
    },
  };
}
