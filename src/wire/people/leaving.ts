// A user who leaves: what they have, and what becomes of it.
import { HOLDING_KINDS } from '../../domain/people/holding.ts';
import { array, object } from '../composites.ts';
import { boolean, integer, line, oneOf, string, uuid } from '../scalars.ts';
import { named, nullable, nullish, type Static } from '../shape.ts';

const fields = {
  user_id: uuid,
  username: string,
  disabled: boolean,
  team: nullable(string),
  /** `count` ends at 10000; `names` has those of some. */
  holdings: array(object({ kind: oneOf(HOLDING_KINDS), count: integer({ from: 0 }), names: array(string) })),
};

export const holdings = named('Holdings', object(fields));
export type HoldingsWire = Static<typeof holdings>;

/** Who gets tasks and pages, a name or an id; and whether what nobody gets is deleted, sessions too. One of both is needed. */
export const leaveWish = named(
  'LeaveWish',
  object({ hand_over_to: nullish(line({ max: 200 })), delete: nullish(boolean) }),
);
export type LeaveWishWire = Static<typeof leaveWish>;

/** `settled`: how many things were, this time. Unless it is `done`, the same request continues. */
export const leaveProgress = named(
  'LeaveProgress',
  object({ ...fields, settled: integer({ from: 0 }), done: boolean }),
);
export type LeaveProgressWire = Static<typeof leaveProgress>;
