// What requests say in headers, beyond their credential (§4.2, §4.3, C11, C12).
import { object } from '../shapes/composites.ts';
import { eventId } from '../shapes/query.ts';
import { string, uuid } from '../shapes/scalars.ts';
import { optional, type Shape } from '../shapes/shape.ts';
import { idempotencyKey } from './turn.ts';

/** Set by `true`; anything else leaves it unset. */
const flag: Shape<boolean> & { readonly absence: 'default' } = {
  absence: 'default',
  admits: (value) => value === 'true',
  read: (value) => value === 'true',
  describe: () => ({ type: 'boolean', default: false }),
};

/** An empty one says that no event has come yet, as in browsers. */
const lastEventId: typeof eventId = {
  ...eventId,
  read: (value, path) => eventId.read(value === '' ? undefined : value, path),
};

/** For clients that can't put it into the body: the fields of a turn; and what its stream has in addition to the answer. */
export const turnHeaders = object({
  'Idempotency-Key': optional(idempotencyKey),
  'Errand-Session-Id': optional(uuid),
  // Gateways and other programs use this name for ids of their own.
  'X-Session-Id': optional(string),
  'X-Stream-Event-Ids': flag,
  'X-Stream-Tool-Events': flag,
});

export const followHeaders = object({ 'Last-Event-ID': lastEventId });

/** Those of a stream in the protocol that began its run. */
export const rejoinHeaders = object({ ...followHeaders.fields, 'X-Stream-Tool-Events': flag });
