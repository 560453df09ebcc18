// The journal's events on the wire as they are.
import { isoTime } from '../../domain/clock.ts';
import type { JournalEvent } from '../../domain/journal-event.ts';
import type { Run } from '../../domain/run.ts';
import { type ErrorFacts, errorBody } from '../frame/render-error.ts';
import { frameOf, type WireEvent } from './event-frame.ts';

const rendered = new WeakMap<JournalEvent, Buffer>();

/** An event of a run as it stands in the journal, made once however many readers there are. */
export function renderJournalEvent(event: JournalEvent, run: Run): Buffer {
  const known = rendered.get(event);
  if (known !== undefined) return known;
  const frame = frameOf(journalEvent(event, run), event.id);
  rendered.set(event, frame);
  return frame;
}

function journalEvent(event: JournalEvent, run: Run): WireEvent {
  return {
    name: event.type,
    data: {
      id: event.id,
      type: event.type,
      session_id: run.sessionId,
      run_id: run.id,
      stream_seq: event.streamSeq,
      created_at: isoTime(event.createdAt),
      payload: renderPayload(event.payload),
    },
  };
}

/** Ends a stream of such events early, while the run goes on. */
export function journalError(facts: ErrorFacts): WireEvent {
  return { name: 'error', data: errorBody(facts, 'envelope') };
}

/** Names of our own are written in the wire's way; what came from models, tools and users stays as it is. */
function renderPayload(payload: JournalEvent['payload']): object {
  const { usage, ...rest } = payload as { readonly usage?: object };
  return { ...inSnakeCase(rest), ...(usage !== undefined && { usage: inSnakeCase(usage) }) };
}

function inSnakeCase(fields: object): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCased(name), value as unknown]));
}

const snakeCased = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
