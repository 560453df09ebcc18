// The requests for events of Office Mode: pages of a session's journal, and the live streams (§4.8, G5).
import { array, object } from '../composites.ts';
import { officeEvent } from '../journal-event.ts';
import { digits, eventId, flag, optionalId, optionalStreamSeq } from '../query.ts';
import { boolean, integer, oneOf, uuid } from '../scalars.ts';
import { anyOf, named, nullable, optional, type Static } from '../shape.ts';

const WORDS_OF_ORDER = ['asc', 'desc'] as const;

/** `from_stream_seq` includes, the ids exclude (G22). */
export const eventsQuery = object({
  after_id: eventId,
  before_id: optionalId,
  run_id: optional(uuid),
  from_stream_seq: optionalStreamSeq,
  limit: digits({ from: 1, to: 500, absent: 500 }),
  order: optional(oneOf(WORDS_OF_ORDER)),
});

export const officeEvents = named(
  'OfficeEvents',
  object({
    session_id: uuid,
    items: array(officeEvent),
    /** There are more in the requested order. */
    has_more: boolean,
    /** `after_id` of what is newer than this page: the newest id on it, or the given one when it is empty. */
    next_after_id: integer({ from: 0 }),
    /** `before_id` of what is older than this page; null when it is empty. */
    next_before_id: nullable(integer({ from: 1 })),
  }),
);

export type OfficeEventsWire = Static<typeof officeEvents>;

/** `replay`: with `after_id` 0, from the first event on instead of after the newest. */
export const sessionStreamQuery = object({ after_id: eventId, replay: flag });

export const runStreamQuery = object({ run_id: uuid, after_id: eventId });

export const houseStreamQuery = object({ after_id: eventId });

/** An event of the house's stream; the data of its event `reset` is empty. */
export const houseEvent = anyOf('must be an event', officeEvent, named('OfficeReset', object({}, { closed: true })));
