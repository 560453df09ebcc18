// Reads what a tab shows: when it is opened, and again after the session has changed.
import { useEffect, useRef } from 'react';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/transport/client-error.ts';
import type { DeskState } from '../state/desk-state.ts';
import type { Dispatch } from '../state/state.ts';
import { updateDesk } from './follow-session.ts';
import { tabOf } from './tabs.ts';

/** However much happens, a tab is read no more often: each read is on the record. */
const REST_MS = 3000;

/** Events that come by the thousand and change nothing that is read. */
const isText = (type: string) => type.startsWith('content_block');

export function useReading(client: Client, screen: DeskState, dispatch: Dispatch): void {
  const { sessionId, tab, log, stream } = screen;
  const readAt = useRef(new Map<string, number>());
  const change = log.events.findLast(({ type }) => !isText(type))?.id ?? 0;
  useEffect(() => {
    const { read } = tabOf(tab);
    if (read === undefined) return undefined;
    const rest = (readAt.current.get(tab) ?? Number.NEGATIVE_INFINITY) + REST_MS - performance.now();
    const timer = setTimeout(
      () => {
        readAt.current.set(tab, performance.now());
        void read(client, sessionId)
          .then((data) => ({ data, failure: null }))
          .catch((error: unknown) => {
            if (error instanceof ClientError) return { failure: error };
            throw error;
          })
          .then((reading) =>
            updateDesk(dispatch, sessionId, ({ readings }) => ({
              readings: { ...readings, [tab]: { data: undefined, ...readings[tab], ...reading } },
            })),
          );
      },
      Math.max(0, rest),
    );
    return () => clearTimeout(timer);
  }, [client, sessionId, dispatch, tab, change, stream.kind]);
}
