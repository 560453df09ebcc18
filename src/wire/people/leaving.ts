// A user who leaves: what they have, and what becomes of it.
import { HOLDING_KINDS } from '../../domain/people/holding.ts';
import { array, object } from '../shapes/composites.ts';
import { called, record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refersTo } from '../shapes/shape.ts';

/** `count` ends at 10000; `names` has those of some. */
const holding = object({ kind: oneOf(HOLDING_KINDS), count: integer({ from: 0 }), names: array(string) });

const fields = {
  id: called('user_id', uuid),
  username: string,
  disabled: boolean,
  teamName: called('team', nullable(string)),
  holdings: array(holding),
};

export const holdings = named('Holdings', record(fields));
export type HoldingsWire = JsonOf<typeof holdings>;

/** Who gets tasks and pages, a name or an id; and whether what nobody gets is deleted, sessions too. One of both is needed. */
export const leaveRequest = named(
  'LeaveRequest',
  request({
    heir: called('hand_over_to', orElse(nullable(refersTo('users', line({ max: 200 }))), null)),
    deletes: called('delete', orElse(nullable(boolean), false)),
  }),
);

/** `settled`: how many things were, this time. Unless it is `done`, the same request continues. */
export const leaveProgress = named(
  'LeaveProgress',
  record({ ...fields, settled: integer({ from: 0 }), isDone: called('done', boolean) }),
);
export type LeaveProgressWire = JsonOf<typeof leaveProgress>;
