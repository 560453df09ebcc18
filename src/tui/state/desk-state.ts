// The state of the desk: which session and tab it shows, from where on, and what is known of the session.
import type { ClientError } from '../../client/transport/client-error.ts';
import type { OfficeEvent } from '../../client/office-stream.ts';

export const TAB_NAMES = ['live', 'rounds', 'messages', 'files', 'context', 'events', 'summary'] as const;
export type TabName = (typeof TAB_NAMES)[number];

/** The item at the top of the view, and how many of its lines are above it. Items are numbered upwards. */
export interface ScrollPosition {
  readonly key: number;
  readonly row: number;
}

/**
 * The events in memory, ascending, at most `MAX_EVENTS`. `lastSeqs`: the newest `stream_seq` by run. `isAtEnd`: nothing
 * newer was left out. `hasOlder`: the daemon has more before the first.
 */
export interface EventLog {
  readonly events: readonly OfficeEvent[];
  readonly lastSeqs: ReadonlyMap<string, number>;
  readonly isAtEnd: boolean;
  readonly hasOlder: boolean;
}

/** What is chosen keeps its id while items move, and its place when its item goes. */
export interface Choice {
  readonly id: string | null;
  readonly index: number;
}

export const FIRST: Choice = { id: null, index: 0 };

/** How the desk stands with its session's stream. */
export interface DeskStream {
  readonly kind: 'connecting' | 'live' | 'lost' | 'deleted';
  readonly failure: ClientError | null;
}

/** What a tab read, and why it could not. */
export interface Reading {
  readonly data: unknown;
  readonly failure: ClientError | null;
}

export interface ChosenCall {
  readonly id: string;
  readonly isUnfolded: boolean;
}

export interface DeskState {
  readonly name: 'desk';
  readonly sessionId: string;
  readonly tab: TabName;
  /** By tab; without one, a tab shows its own end: the newest of what grows, the beginning of the rest. */
  readonly positions: Readonly<Partial<Record<TabName, ScrollPosition | undefined>>>;
  readonly readings: Readonly<Partial<Record<string, Reading>>>;
  readonly log: EventLog;
  readonly stream: DeskStream;
  /** Whatever may be folded is shown in full. */
  readonly isUnfolded: boolean;
  /** The call that is chosen, by its tool use, and whether it alone is shown in full. */
  readonly call: ChosenCall | null;
  /** The file that is chosen, by its path. */
  readonly chosenFile: Choice;
  /** The file that is wanted on this machine. */
  readonly wanted: { readonly path: string; readonly name: string } | null;
  /** The newest event when the view was paused; null while it is not. */
  readonly pausedAt: number | null;
}

export const EMPTY_LOG: EventLog = { events: [], lastSeqs: new Map(), isAtEnd: true, hasOlder: false };

export function desk(sessionId: string): DeskState {
  return {
    name: 'desk',
    sessionId,
    tab: 'live',
    positions: {},
    readings: {},
    log: EMPTY_LOG,
    stream: { kind: 'connecting', failure: null },
    isUnfolded: false,
    call: null,
    chosenFile: FIRST,
    wanted: null,
    pausedAt: null,
  };
}
