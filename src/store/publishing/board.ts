// The board: the pages that everybody can find, the last published first.
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import { searchable } from '../../domain/publishing/page.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { conditions } from '../engine/lists.ts';
import { PAGE, PAGES, type PageRecord } from './page-rows.ts';

/** Null leaves a filter out. */
export interface BoardFilter extends ListPage {
  /** The owner's account, exactly. */
  readonly account: string | null;
  readonly category: string | null;
  /** A part of the name, whatever its case. No character stands for others (F5). */
  readonly name: string | null;
}

export interface Category {
  readonly name: string;
  readonly count: number;
}

/** The newest pages, which are all that is looked at. */
const MAX_PAGES = 10_000;
const MAX_CATEGORIES = 100;
const NEWEST_FIRST = 'latest_published_at DESC, id DESC';
/** Entries of the index, which has all these columns. */
const BOARD = `SELECT id, latest_published_at, user_seq, category, search_name FROM publish_pages
  WHERE is_on_board = 1 AND latest_published_at IS NOT NULL AND deleted_at IS NULL
  ORDER BY ${NEWEST_FIRST} LIMIT ${MAX_PAGES}`;

/** The pages of disabled users are not public. */
const IS_PUBLIC = 'user_seq NOT IN (SELECT seq FROM users WHERE disabled = 1)';

/** The verbs. `now` is epoch ms. */
export function makeBoard({ read }: Database) {
  return {
    /** Pages with a version that can be read; `total` counts at most the newest 10,000. */
    list: read(function* (tx: Reader, filter: BoardFilter, now: number): Step<Listing<PageRecord>> {
      const owner = filter.account === null ? null : yield* seqOf(tx, filter.account);
      const { where, values } = conditions([IS_PUBLIC], {
        'user_seq = ?': owner,
        'category = ?': filter.category,
        'instr(search_name, ?) > 0': filter.name === null || filter.name === '' ? null : searchable(filter.name),
      });
      const sql = `SELECT count(*) AS total FROM (${BOARD}) AS page ${where}`;
      const { total } = (yield* tx.get<{ total: number }>(sql, ...values))!;
      const found = `SELECT id FROM (${BOARD}) AS page ${where} ORDER BY ${NEWEST_FIRST} LIMIT ? OFFSET ?`;
      const pages = yield* tx
        .rows(PAGE)
        .all(
          `${PAGES} WHERE p.id IN (${found}) ORDER BY p.latest_published_at DESC, p.id DESC`,
          now,
          ...values,
          filter.limit,
          filter.offset,
        );
      // The end of a version may not have been noticed yet.
      return { items: pages.filter(({ latest }) => latest !== null), total };
    }),

    /** The categories of the board with the number of their pages, the largest first. */
    listCategories: read(
      (tx: Reader): Step<Category[]> =>
        tx.all<Category>(
          `SELECT category AS name, count(*) AS count FROM (${BOARD}) AS page WHERE category IS NOT NULL AND ${IS_PUBLIC}
           GROUP BY category ORDER BY count(*) DESC, category LIMIT ${MAX_CATEGORIES}`,
        ),
    ),
  };
}

/** No user has the `seq` 0. */
function* seqOf(tx: Reader, account: string): Step<number> {
  return (yield* tx.get<{ seq: number }>('SELECT seq FROM users WHERE username = ?', account))?.seq ?? 0;
}
