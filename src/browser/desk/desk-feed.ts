// Keeps a desk fed: its session's stream, what its tab reads, and the past where its user goes.
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import { pause } from '../../client/transport/pause.ts';
import { MAX_EVENTS } from '../../tui/feed/event-log.ts';
import { followSession, PAGE, readEnd, readPage, updateDesk } from '../../tui/feed/follow-session.ts';
import { makeSessionReader } from '../../tui/feed/read-session.ts';
import type { Reads } from '../../tui/feed/reads.ts';
import type { DeskState, EventLog } from '../../tui/state/desk-state.ts';
import type { Dispatch } from '../../tui/state/state.ts';
import type { FedTab, Sight, TabInput } from './sight.ts';

export interface DeskFeed {
  /** Called with the desk that is shown whenever it is drawn. `tabs`: what is read for it, that of its tab the first. */
  readonly look: (input: TabInput, tabs: readonly FedTab[], sight: Sight) => void;
  /** Ends what goes on; the next look begins again where it stopped. */
  readonly rest: () => void;
}

/** After a page that could not be read. */
const REST_MS = 3000;

/** Whether the past is to be read: where its user has come to it, and where the page has room for more than is in memory. */
function wantsPast({ hasOlder, isAtEnd: hasAll, events }: EventLog, { isAtStart, isAtEnd }: Sight): boolean {
  // What is in sight as a whole is that of now: nothing of it gives way to its past.
  const fits = hasAll && events.length + PAGE <= MAX_EVENTS;
  return hasOlder && isAtStart && (fits || !isAtEnd);
}

export function makeDeskFeed(client: Reads, dispatch: Dispatch): DeskFeed {
  let following: {
    readonly sessionId: string;
    readonly isAtEnd: boolean;
    readonly controller: AbortController;
  } | null = null;
  let reader = { sessionId: '', read: makeSessionReader() };
  /** The page that is being read. One that comes after a rest is of no use: another part of the past may be in memory. */
  let reading: object | null = null;

  const rest = () => {
    following?.controller.abort();
    following = null;
    reading = null;
  };

  const follow = ({ sessionId, log }: DeskState) => {
    if (following?.sessionId === sessionId && following.isAtEnd === log.isAtEnd) return;
    rest();
    const controller = new AbortController();
    following = { sessionId, isAtEnd: log.isAtEnd, controller };
    // Whoever looks at a past without room for the present follows again from where that past ends.
    if (log.isAtEnd) void followSession({ client, sessionId, dispatch, log, signal: controller.signal });
  };

  const readPages = (screen: DeskState, sight: Sight) => {
    const { sessionId, tab, log, stream } = screen;
    if (reading !== null || stream.kind === 'deleted' || (tab !== 'live' && tab !== 'events')) return;
    const work = wantsPast(log, sight)
      ? readPage(client, screen, 'older')
      : !log.isAtEnd && sight.isAtEnd
        ? log.events.length === 0
          ? readEnd(client, sessionId)
          : readPage(client, screen, 'newer')
        : undefined;
    if (work === undefined) return;
    const own = {};
    reading = own;
    work
      .then((change) => change && reading === own && updateDesk(dispatch, sessionId, change))
      .catch((error: unknown) => {
        if (!(error instanceof ClientError) && !isAborted(error)) throw error;
        return pause(REST_MS);
      })
      .finally(() => {
        if (reading === own) reading = null;
      });
  };

  return {
    rest,
    look(input, tabs, sight) {
      const { screen } = input;
      if (reader.sessionId !== screen.sessionId) reader = { sessionId: screen.sessionId, read: makeSessionReader() };
      follow(screen);
      for (const { source, next } of tabs) {
        if (source !== undefined) reader.read(client, dispatch, screen, { source, next: () => next?.(input, sight) });
      }
      readPages(screen, sight);
    },
  };
}
