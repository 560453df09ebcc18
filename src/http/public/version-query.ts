// Which versions a query asks for: its days as moments (§4.7, F5).
import { ErrandError } from '../../domain/errors.ts';
import { firstMomentAfter, firstMomentOf } from '../../domain/time-zone.ts';
import type { PublicVersionQueryWire } from '../../wire/publishing/public-page.ts';

/** Versions published from `from` on, epoch ms, and before `to`. */
export interface VersionFilter {
  readonly no?: number;
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  readonly offset: number;
}

/** Throws `bad_request` for a day together with a range, and for a range that ends before it begins. */
export function versionFilterOf(query: PublicVersionQueryWire): VersionFilter {
  const { version_no: no, date, tz, limit, offset } = query;
  if (date !== undefined && (query.date_from !== undefined || query.date_to !== undefined))
    throw new ErrandError('bad_request', 'date can not be combined with date_from or date_to.');
  const { date_from: first = date, date_to: last = date } = query;
  if (first !== undefined && last !== undefined && first > last)
    throw new ErrandError('bad_request', 'date_from must not be after date_to.');
  return {
    ...(no !== undefined && { no }),
    ...(first !== undefined && { from: firstMomentOf(first, tz) }),
    ...(last !== undefined && { to: firstMomentAfter(last, tz) }),
    limit,
    offset,
  };
}
