// What everybody may read of published pages, without a credential (§4.7). It names nothing of the installation but a page's owner.
import type { Clock } from '../../domain/clock.ts';
import { notFound } from '../../domain/errors.ts';
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import type { Page, PageOwner } from '../../domain/publishing/page.ts';
import { type Portions, rowsOf } from '../../domain/portions.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { Category } from '../../store/publishing/board.ts';
import type { KnownVersion, PageRecord, ReadableVersion } from '../../store/publishing/page-rows.ts';
import { makeOpenShare, type OpenedShare } from './open-share.ts';
import { makeVersionTrees, type RenderTree } from './version-trees.ts';

export type { OpenedShare };

/** A version that can be read. */
export type PublicVersion = ReadableVersion;

/** A page, with what can be read of it now. */
export interface PublicPage
  extends Pick<
    Page,
    | 'key'
    | 'name'
    | 'description'
    | 'category'
    | 'tags'
    | 'origin'
    | 'isOnBoard'
    | 'isDistractionFree'
    | 'createdAt'
    | 'updatedAt'
  > {
  readonly owner: PageOwner;
  /** Versions that can be read. */
  readonly versionCount: number;
  /** The newest of them. */
  readonly latest: PublicVersion | null;
  /** What was last published, whether it can be read or not; null before the first. */
  readonly lastKnown: KnownVersion | null;
}

/** An absent filter finds everything. The name is a part of it, whatever its case; the others are exact (F5). */
export interface BoardQuery extends ListPage {
  readonly account?: string;
  readonly category?: string;
  readonly name?: string;
}

/** Published from one moment on and before another, epoch ms. */
export interface PublicVersionQuery extends ListPage {
  readonly no?: number;
  readonly from?: number;
  readonly to?: number;
}

/** Makes the tree of a version's files as text, in pieces. */
export type RenderVersion = (files: Portions<FileVersion>, version: PublicVersion) => AsyncIterable<string>;

/** The text of a tree. `sha256`: of all of it; null when it could not be kept. */
export interface VersionTree {
  readonly sha256: string | null;
  pieces(): AsyncIterable<string>;
}

export interface PublicPageParts {
  readonly store: Pick<Store, 'pages' | 'board' | 'manifests'>;
  readonly blobs: Pick<BlobStore, 'open' | 'hold'>;
  readonly clock: Clock;
  readonly log: Log;
}

export type PublicPages = ReturnType<typeof makePublicPages>;

/**
 * The entry points. What is unknown, deleted or can't be read any more is `not_found`; `details.why` says what people may
 * know of the reason.
 */
export function makePublicPages({ store, blobs, clock, log }: PublicPageParts) {
  const { pages, board, manifests } = store;
  const shares = makeOpenShare({ manifests, blobs, clock, log });
  const trees = makeVersionTrees({ manifests, blobs });

  async function requirePage(key: string): Promise<PageRecord> {
    const page = await pages.findPublic(key, clock.now());
    if (page === undefined) throw notFound('Page');
    return page;
  }

  /** The version of that number; undefined when it can't be read. */
  const findReadable = async (pageId: number, no: number): Promise<PublicVersion | undefined> => {
    const filter = { pageId, no, from: null, to: null, limit: 1, offset: 0 };
    return (await manifests.listReadable(filter, clock.now())).items[0];
  };

  async function requireVersion(key: string, no: number) {
    const { id } = await requirePage(key);
    const version = await findReadable(id, no);
    const shared = version && (await manifests.findShared(version.shareCode));
    if (version === undefined || shared === undefined) throw notFound('Version');
    return { seq: shared.seq, version };
  }

  return {
    /** Pages on the board with a version that can be read, the last published first. */
    board: async (query: BoardQuery): Promise<Listing<PublicPage>> => {
      const { account = null, category = null, name = null, limit, offset } = query;
      const { items, total } = await board.list({ account, category, name, limit, offset }, clock.now());
      return { items: items.map(toPublic), total };
    },

    /** At most 100 categories of the board, those with most pages first. */
    categories: (): Promise<readonly Category[]> => board.listCategories(),

    /** Any page that is not deleted, on the board or not. */
    page: async (key: string): Promise<PublicPage> => toPublic(await requirePage(key)),

    /** The versions of a page that can be read, the newest first. */
    versions: async (key: string, query: PublicVersionQuery): Promise<Listing<PublicVersion>> => {
      const { id } = await requirePage(key);
      const { no = null, from = null, to = null, limit, offset } = query;
      return manifests.listReadable({ pageId: id, no, from, to, limit, offset }, clock.now());
    },

    /** A share with its page. */
    share: async (code: string): Promise<{ readonly page: PublicPage; readonly version: PublicVersion }> => {
      const { pageKey, pageId, no } = await shares.require(code);
      const [page, version] = [await requirePage(pageKey), await findReadable(pageId, no)];
      if (version === undefined) throw notFound('Share');
      return { page: toPublic(page), version };
    },

    /** The paths of a version's files, in their order. */
    paths: async (key: string, no: number): Promise<readonly string[]> => {
      const { seq } = await requireVersion(key, no);
      return (await Array.fromAsync(rowsOf(trees.filesOf(seq)))).map(({ path }) => path);
    },

    /** The tree of a version's files, as `render` makes it of them. */
    tree: async (key: string, no: number, render: RenderVersion): Promise<VersionTree> => {
      const { seq, version } = await requireVersion(key, no);
      const renderFiles: RenderTree = (files) => render(files, version);
      try {
        const sha256 = await trees.keyOf(seq, renderFiles);
        return { sha256, pieces: () => trees.textOf(sha256) };
      } catch (error) {
        // A full disk keeps nobody from reading it.
        log.warn({ err: error, publish_key: key, version_no: no }, 'the tree of a version could not be kept');
        return { sha256: null, pieces: () => renderFiles(trees.filesOf(seq)) };
      }
    },

    openEntry: shares.openEntry,
    openAsset: shares.openAsset,
  };
}

/** Field by field: what is added to a page stays private. */
function toPublic(page: PageRecord): PublicPage {
  const { key, name, description, category, tags, origin, isOnBoard, isDistractionFree, createdAt, updatedAt } = page;
  const { owner, versionCount, latest, lastKnown } = page;
  return {
    key,
    name,
    description,
    category,
    tags,
    origin,
    isOnBoard,
    isDistractionFree,
    createdAt,
    updatedAt,
    owner,
    versionCount,
    latest,
    lastKnown,
  };
}
