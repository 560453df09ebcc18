// Renders what operations list.
import type { Listing } from '../../domain/listing.ts';
import type { ListWire } from '../../wire/listing.ts';

/** A list, item by item. */
export function renderList<T, W>({ items, total }: Listing<T>, render: (item: T) => W): ListWire<W> {
  return { items: items.map(render), total };
}
