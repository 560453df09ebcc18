// Pages: found, listed, changed and deleted. New ones come with `versions.ts`.
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import { type Page, PAGE_LIMITS, type PageOrigin, searchable } from '../../domain/publishing/page.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction, Value } from '../engine/statement.ts';
import { conditions } from '../engine/lists.ts';
import { PAGE, PAGES, type PageRecord } from './page-rows.ts';

/** What can be changed of a page. */
export type PageChanges = Partial<
  Pick<Page, 'name' | 'description' | 'category' | 'tags' | 'entryPath' | 'isOnBoard' | 'isDistractionFree'>
>;

/** `sourceSeq` is null for a page of a task that has completed no firing since it was made; `sourceUserSeq` is whose session that is. */
export interface OwnedPage extends Pick<Page, 'id' | 'userSeq' | 'entryPath'> {
  readonly sourceSeq: number | null;
  readonly sourceUserSeq: number | null;
}

/** Null leaves a filter out. */
export interface PageFilter extends ListPage {
  readonly userSeq: number | null;
  readonly origin: PageOrigin | null;
  /** Exactly. */
  readonly name: string | null;
}

/** Lists count up to here. */
export const MAX_COUNTED = 10_000;

const OWNED = `SELECT p.id, p.user_seq, p.entry_path, p.session_seq AS sourceSeq,
    s.user_seq AS sourceUserSeq
  FROM publish_pages p LEFT JOIN sessions s ON s.seq = p.session_seq WHERE p.key = ? AND p.deleted_at IS NULL`;

const IS_THERE = 'p.deleted_at IS NULL';

/** The verbs. Deleted pages are not there. `now` is epoch ms. */
export function makePages(database: Database) {
  const { read } = database;
  const write = makeAuditedWrite(database);
  return {
    find: read(function* (tx: Reader, key: string, now: number): Step<PageRecord | undefined> {
      return yield* tx.rows(PAGE).get(`${PAGES} WHERE p.key = ? AND ${IS_THERE}`, now, key);
    }),

    /** The same, unless its owner is disabled. */
    findPublic: read(function* (tx: Reader, key: string, now: number): Step<PageRecord | undefined> {
      return yield* tx.rows(PAGE).get(`${PAGES} WHERE p.key = ? AND ${IS_THERE} AND u.disabled = 0`, now, key);
    }),

    /** Whose it is, and what its next version is made of. */
    findOwned: read((tx: Reader, key: string): Step<OwnedPage | undefined> => tx.get<OwnedPage>(OWNED, key)),

    /** A page of the list, the newest first. */
    list: read(function* (tx: Reader, filter: PageFilter, now: number): Step<Listing<PageRecord>> {
      const { where, values } = conditions([IS_THERE], {
        'p.user_seq = ?': filter.userSeq,
        'p.origin = ?': filter.origin,
        'p.name = ?': filter.name,
      });
      const { total } = (yield* tx.get<{ total: number }>(
        `SELECT count(*) AS total FROM (SELECT 1 FROM publish_pages p ${where} LIMIT ?)`,
        ...values,
        MAX_COUNTED,
      ))!;
      const items = yield* tx
        .rows(PAGE)
        .all(`${PAGES} ${where} ORDER BY p.id DESC LIMIT ? OFFSET ?`, now, ...values, filter.limit, filter.offset);
      return { items, total };
    }),

    /** Changes what is given. Throws `not_found`. */
    change: (id: number, changes: PageChanges, note?: Note<void>): Promise<void> =>
      write(note, function* (tx) {
        const columns = [...columnsOf(changes), ['updated_at', tx.now] as const];
        const changed = yield* tx.count(
          `UPDATE publish_pages SET ${columns.map(([name]) => `${name} = ?`).join(', ')} WHERE id = ? AND deleted_at IS NULL`,
          ...columns.map(([, value]) => value),
          id,
        );
        if (changed === 0) throw notFound('Page');
      }),

    /** Hides it and all its versions at once; its rows and bytes are removed later. `owner`: theirs only. Throws `not_found`. */
    delete: (id: number, note?: Note<void>, owner: number | null = null): Promise<void> =>
      write(
        note,
        function* (tx: Transaction) {
          const hidden = `UPDATE publish_pages SET deleted_at = ?
            WHERE id = ? AND user_seq = coalesce(?, user_seq) AND deleted_at IS NULL`;
          if ((yield* tx.count(hidden, tx.now, id, owner)) === 0) throw notFound('Page');
        },
        FREES,
      ),
  };
}

/** Throws `conflict` when a user has as many pages as they may have. */
export function* requireRoomIn(tx: Reader, userSeq: number): Step<void> {
  const sql = 'SELECT count(*) AS count FROM publish_pages WHERE user_seq = ? AND deleted_at IS NULL';
  const { count } = (yield* tx.get<{ count: number }>(sql, userSeq))!;
  if (count >= PAGE_LIMITS.perOwner)
    throw new ErrandError('conflict', `The owner already has ${count} pages, which is the maximum.`);
}

/** The columns of what is given of a page. */
export function columnsOf(given: PageChanges): (readonly [column: string, value: Value])[] {
  const { name, description, category, tags, entryPath, isOnBoard, isDistractionFree } = given;
  const columns: (readonly [string, Value | undefined])[] = [
    ['name', name],
    ['search_name', name === undefined ? undefined : searchable(name)],
    ['description', description],
    ['category', category],
    ['tags', tags && JSON.stringify(tags)],
    ['entry_path', entryPath],
    ['is_on_board', isOnBoard === undefined ? undefined : Number(isOnBoard)],
    ['is_distraction_free', isDistractionFree === undefined ? undefined : Number(isDistractionFree)],
  ];
  return columns.filter((column): column is readonly [string, Value] => column[1] !== undefined);
}
