// Renders what operations list.
import type { Listing, Page } from '../../domain/listing.ts';
import { type LongListing, PORTION_BYTES, type Portions } from '../../domain/portions.ts';
import type { ListWire } from '../../wire/listing.ts';
import { type StreamableFields, streamedList } from './json-pieces.ts';

/** A list, item by item. */
export function renderList<T, W>({ items, total }: Listing<T>, render: (item: T) => W): ListWire<W> {
  return { items: items.map(render), total };
}

/** A whole list, which is read while it is sent. */
export function renderWholeList<T, W>(
  { items, total }: LongListing<T>,
  render: (item: T) => W,
): StreamableFields<ListWire<W>> {
  return { items: streamedList(items, render), total };
}

/** A page whose items may have long texts. `list` reads a part of it. */
export interface LongPage<T> extends Page {
  /** Items of a part, at most: as many as have `PORTION_BYTES` when they are as long as they may be. */
  readonly perPart: number;
  /** Reads a part. It may be shorter, but not empty before the end. */
  list(part: Page): Promise<Listing<T>>;
  /** What tells items apart: rows that are added meanwhile move some of one part into the next. */
  idOf(item: T): string | number;
}

/** Such a page in parts, which are read while the list is sent; the first one now, so that a refusal comes before the reply. */
export async function renderLongList<T, W>(
  page: LongPage<T>,
  render: (item: T) => W,
): Promise<StreamableFields<ListWire<W>>> {
  const partAt = (from: number): Page => ({
    offset: page.offset + from,
    limit: Math.min(page.perPart, page.limit - from),
  });
  const first = await page.list(partAt(0));
  return { items: streamedList(partsOf(page, first, partAt), render), total: first.total };
}

async function* partsOf<T>(
  { offset, limit, perPart, list, idOf }: LongPage<T>,
  first: Listing<T>,
  partAt: (from: number) => Page,
): Portions<T> {
  const sent = new Set<string | number>();
  let [found, from] = [first, 0];
  const read = async () => {
    if (from > 0) found = await list(partAt(from));
    from += found.items.length;
    const fresh = found.items.filter((item) => !sent.has(idOf(item)));
    for (const item of fresh) sent.add(idOf(item));
    return fresh;
  };
  // Totals of some lists are counted up to a limit.
  const isEnd = () => found.items.length < perPart && offset + from >= found.total;
  do yield { bytes: PORTION_BYTES, read };
  while (from < limit && found.items.length > 0 && !isEnd());
}
