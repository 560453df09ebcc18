// Shares, as their owners manage them (F7).
import { endpoints } from '../endpoint.ts';
import { listOf, pageFields } from '../listing.ts';
import { moment } from '../shapes/query.ts';
import { called, record, request } from '../shapes/record.ts';
import { line, string } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse } from '../shapes/shape.ts';
import { shareCode } from './names.ts';
import { ownedVersionFields, VERSIONS_PER_PART } from './page.ts';

/** Which shares to list: of one page, or of all. */
const shareQuery = request({ pageKey: called('publish_key', orElse(line({ max: 100 }), null)), ...pageFields });

/** A share: a version with the page that it belongs to. */
const share = named(
  'Share',
  record({ pageKey: called('publish_key', string), pageName: called('name', string), ...ownedVersionFields }),
);
export type ShareWire = JsonOf<typeof share>;

/** When the share ends; null for never. */
const shareChange = named('ShareChange', request({ expiresAt: nullable(moment) }));

const base = 'shares' as const;
const one = { params: { share_code: shareCode }, reply: share, base };

/** Shares: everyone's own, and for administrators all (F7). */
// biome-ignore format: a table reads best with one endpoint a line
export const shares = endpoints('user', 'envelope', {
  list: { route: 'GET /api/v1/shares', summary: 'List shares', operation: 'listShares', query: shareQuery, reply: listOf(share), base, perPart: VERSIONS_PER_PART },
  get: { route: 'GET /api/v1/shares/:share_code', summary: 'Read a share', operation: 'getShare', ...one },
  change: { route: 'PATCH /api/v1/shares/:share_code', summary: 'Change when a share ends', operation: 'changeShare', ...one, body: shareChange },
  withdraw: { route: 'DELETE /api/v1/shares/:share_code', summary: 'Withdraw a share for good', operation: 'withdrawShare', ...one },
});
