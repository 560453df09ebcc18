// Published pages, for their owners: made, changed, published again and deleted (F7).
import type { Happened } from '../../events/wakes.ts';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import type { PageOrigin } from '../../domain/publishing/page.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { PageRecord, VersionRecord } from '../../store/publishing/page-rows.ts';
import type { PageChanges } from '../../store/publishing/pages.ts';
import { ofAnother } from '../../store/publishing/versions.ts';
import { type Access, scopeOf } from '../access.ts';
import type { AuditedAccess } from '../audited-access.ts';
import { type CreatePageParts, makeCreatePage, MANUAL, type NewPage, published } from './create-page.ts';

export type { NewPage, PageChanges, PageRecord, VersionRecord };

export interface NewVersion {
  readonly reason: string | null;
  /** Without it, the page's own. */
  readonly entryPath?: string;
}

/** Null leaves a filter out. The name is exact. */
export interface PageQuery extends ListPage {
  readonly name: string | null;
  readonly origin: PageOrigin | null;
}

export interface PageOperationParts extends CreatePageParts {
  readonly store: Pick<Store, 'pages' | 'shares'>;
  readonly access: Pick<Access, 'session' | 'scheduledTask' | 'page'>;
  readonly auditedAccess: Pick<AuditedAccess, 'page'>;
  readonly clock: Clock;
  readonly happened: Happened;
}

/** The verbs. Those that take a key throw as `Access.page` does. */
export function makePageOperations(parts: PageOperationParts) {
  const { store, access, auditedAccess, audit, clock, happened, publishing } = parts;
  const create = makeCreatePage(parts);

  /** What is known of a page now. Someone else may delete it meanwhile. */
  async function recordOf(key: string): Promise<PageRecord> {
    const page = await store.pages.find(key, clock.now());
    if (page === undefined) throw notFound('Page');
    return page;
  }

  return {
    /** The pages within the caller's reach, the newest first. */
    listPages: async (caller: Caller, query: PageQuery): Promise<Listing<PageRecord>> =>
      store.pages.list({ ...query, userSeq: scopeOf(caller).userSeq }, clock.now()),

    /** Makes a page. Throws as `makeCreatePage` says. */
    createPage: async (caller: Caller, input: NewPage): Promise<PageRecord> => recordOf(await create(caller, input)),

    getPage: async (caller: Caller, key: string): Promise<PageRecord> => {
      await auditedAccess.page(caller, key);
      return recordOf(key);
    },

    /** Its versions stay as they are; a new entry is that of the next one. */
    changePage: async (caller: Caller, key: string, changes: PageChanges): Promise<PageRecord> => {
      const { id } = await access.page(caller, key);
      await store.pages.change(
        id,
        changes,
        audit.change(caller, 'page.change', () => ({ id: key })),
      );
      return recordOf(key);
    },

    /** Nobody can read it or its versions any more; what only they hold is removed in the background. */
    deletePage: async (caller: Caller, key: string): Promise<{ readonly key: string }> => {
      const { id } = await access.page(caller, key);
      await store.pages.delete(
        id,
        audit.change(caller, 'page.delete', () => ({ id: key })),
      );
      happened('share changed');
      return { key };
    },

    /** All versions of a page, the newest first. */
    listPageVersions: async (caller: Caller, key: string, page: ListPage): Promise<Listing<VersionRecord>> => {
      const { id } = await auditedAccess.page(caller, key);
      return store.shares.list({ ...page, userSeq: null, pageId: id }, clock.now());
    },

    /** Publishes the next version. Throws as `createPage` does, and `conflict` when there is nothing that it could be made of. */
    publishVersion: async (caller: Caller, key: string, input: NewVersion): Promise<VersionRecord> => {
      const { id, userSeq, sourceSeq, sourceUserSeq, entryPath } = await access.page(caller, key);
      if (sourceSeq === null)
        throw new ErrandError('conflict', 'No firing of the scheduled task has completed since the page was created.');
      // Its owner has it from someone else, whose other files are not theirs to publish.
      if (sourceUserSeq !== userSeq) throw ofAnother();
      const source = { sessionSeq: sourceSeq, entryPath: input.entryPath ?? entryPath };
      const note = audit.change(caller, 'page.release', () => ({ id: key }));
      const outcome = await publishing.versions.publish(
        source,
        { page: { id }, ...MANUAL, reason: input.reason },
        note,
      );
      const { shareCode } = published(outcome);
      const version = await store.shares.find(shareCode, clock.now());
      // Deleted at once.
      if (version === undefined) throw notFound('Page');
      return version;
    },
  };
}
