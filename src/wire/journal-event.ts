// An event of the journal on the wire (§2.14): one table for everything that leaves the daemon event by event.
import { isoTime } from '../domain/clock.ts';
import { type EventScope, type EventType, type JournalEvent, runNamedBy } from '../domain/sessions/journal-event.ts';
import { object, tagged } from './shapes/composites.ts';
import { PAYLOADS, renderPayload } from './event-payloads.ts';
import { integer, time, uuid } from './shapes/scalars.ts';
import { named, nullable, type Static } from './shapes/shape.ts';

const OFFICE_HEAD = {
  /** The journal's order, and the id of the server-sent event. */
  id: integer({ from: 1 }),
  session_id: uuid,
  /** Null when no run is meant. */
  run_id: nullable(uuid),
  /** Counts the events of one run from 1; null in those of the session that only name a run (G22). */
  stream_seq: nullable(integer({ from: 1 })),
};
const HEAD = { ...OFFICE_HEAD, created_at: time };

type Payloads = typeof PAYLOADS;
type EventFields<H> = {
  readonly [T in EventType]: H & { readonly payload: ReturnType<typeof object<Payloads[T]>> };
};

/** An event of Office Mode. */
export const officeEvent = named('OfficeEvent', tagged('type', withHead(OFFICE_HEAD)));

/** An event of a run, as the management interface has it. */
export const journalEvent = named('JournalEvent', tagged('type', withHead(HEAD)));

export type OfficeEventWire = Static<typeof officeEvent>;
export type JournalEventWire = Static<typeof journalEvent>;

function withHead<H extends object>(head: H): EventFields<H> {
  const variants = Object.entries(PAYLOADS).map(([type, fields]) => [type, { ...head, payload: object(fields) }]);
  return Object.fromEntries(variants) as EventFields<H>;
}

/** An event as Office Mode sends it. */
export function renderOfficeEvent(event: JournalEvent, scope: EventScope): OfficeEventWire {
  return prepareOfficeEvent(event)(scope);
}

/** The same in two steps. In between, nothing is held of what is left out, such as the rest of a large input. */
export function prepareOfficeEvent(event: JournalEvent): (scope: EventScope) => OfficeEventWire {
  const { id, type, streamSeq } = event;
  const [named, payload] = [runNamedBy(event), renderPayload(event)];
  return ({ sessionId, runId }) =>
    ({
      id,
      type,
      session_id: sessionId,
      run_id: runId ?? named,
      stream_seq: streamSeq,
      payload,
    }) as OfficeEventWire;
}

/** An event as the management interface sends it. */
export function renderJournalEvent(event: JournalEvent, scope: EventScope): JournalEventWire {
  const { payload, ...head } = renderOfficeEvent(event, scope);
  return { ...head, created_at: isoTime(event.createdAt), payload } as JournalEventWire;
}
