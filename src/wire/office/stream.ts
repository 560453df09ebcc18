// The requests for events of Office Mode: pages of a session's journal, and the live streams (§4.8, G5).
import { array, object } from '../shapes/composites.ts';
import { officeEvent } from '../journal-event.ts';
import { digits, eventId, flag, optionalId, optionalStreamSeq } from '../shapes/query.ts';
import { request } from '../shapes/record.ts';
import { boolean, constant, integer, oneOf, string, uuid } from '../shapes/scalars.ts';
import { anyOf, named, nullable, orElse, type Static } from '../shapes/shape.ts';

const WORDS_OF_ORDER = ['asc', 'desc'] as const;

/** `from_stream_seq` includes, the ids exclude (G22). */
export const eventsQuery = request({
  afterId: eventId,
  beforeId: orElse(optionalId, null),
  runId: orElse(uuid, null),
  fromStreamSeq: orElse(optionalStreamSeq, null),
  limit: digits({ from: 1, to: 500, absent: 500 }),
  order: orElse(oneOf(WORDS_OF_ORDER), 'asc'),
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
export const sessionStreamQuery = request({ afterId: eventId, replay: flag });

export const runStreamQuery = request({ runId: uuid, afterId: eventId });

export const floorStreamQuery = request({ afterId: eventId });

/**
 * The last words of a text that a run writes, once a second at most for each run. It is no event of the journal: `id` and `stream_seq` are those of
 * the event that the words end with, and it has no id to resume from.
 */
const runWords = named(
  'OfficeRunWords',
  object({
    id: integer({ from: 1 }),
    type: constant('run.words'),
    session_id: uuid,
    run_id: uuid,
    stream_seq: integer({ from: 1 }),
    payload: object({ text: string }),
  }),
);
export type RunWords = Static<typeof runWords>;

/** An event of the floor's stream; the data of its event `reset` is empty. */
export const floorEvent = anyOf(
  'must be an event',
  officeEvent,
  runWords,
  named('OfficeReset', object({}, { closed: true })),
);
