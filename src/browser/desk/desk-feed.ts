// Keeps a desk fed: its session's stream, what its tab reads, and the past where its user goes.
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import { followSession, readEnd, readPage, updateDesk } from '../../tui/feed/follow-session.ts';
import { makeSessionReader } from '../../tui/feed/read-session.ts';
import type { Reads } from '../../tui/feed/reads.ts';
import type { DeskState } from '../../tui/state/desk-state.ts';
import type { Dispatch } from '../../tui/state/state.ts';
import type { Sight, Tab, TabInput } from './tab-view.ts';

export interface DeskFeed {
  /** Called with the desk that is shown whenever it is drawn. */
  readonly look: (input: TabInput, tab: Tab, sight: Sight) => void;
  /** Ends what goes on; the next look begins again where it stopped. */
  readonly rest: () => void;
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

  const readPages = (screen: DeskState, { isAtStart, isAtEnd }: Sight) => {
    if (reading !== null || (screen.tab !== 'live' && screen.tab !== 'events')) return;
    const { sessionId, log } = screen;
    const work =
      log.hasOlder && isAtStart && !isAtEnd
        ? readPage(client, screen, 'older')
        : !log.isAtEnd && isAtEnd
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
      })
      .finally(() => {
        if (reading === own) reading = null;
      });
  };

  return {
    rest,
    look(input, tab, sight) {
      const { screen } = input;
      if (reader.sessionId !== screen.sessionId) reader = { sessionId: screen.sessionId, read: makeSessionReader() };
      follow(screen);
      const { source, next } = tab;
      if (source !== undefined) {
        reader.read(client, dispatch, screen, { source, next: () => next?.(input, sight) });
      }
      readPages(screen, sight);
    },
  };
}
