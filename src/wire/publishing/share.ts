// Shares, as their owners manage them (F7).
import { object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { moment } from '../query.ts';
import { line, string } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';
import { ownedVersionFields } from './page.ts';

/** Which shares to list: of one page, or of all. */
export const shareQuery = object({ publish_key: optional(line({ max: 100 })), ...pageFields });

/** A share: a version with the page that it belongs to. */
export const share = named('Share', object({ publish_key: string, name: string, ...ownedVersionFields }));
export type ShareWire = Static<typeof share>;

/** When the share ends; null for never. */
export const shareChange = named('ShareChange', object({ expires_at: nullable(moment) }));
export type ShareChangeWire = Static<typeof shareChange>;
