// Reads along with the chosen run, once it has been chosen for a moment, for as long as there is room for it.
import { useEffect } from 'react';
import { followSession } from '../feed/follow-session.ts';
import type { ScreenProps } from '../screen/screen.ts';
import { desk } from '../state/desk-state.ts';
import { type Dispatch, officeShown } from '../state/state.ts';
import { chosenRow, visibleRows } from '../state/visible.ts';
import { paneWidth } from './pane.ts';

/** Whoever passes over a run does not read it: each read is on the record. */
const REST_MS = 400;

type PaneParts = Pick<ScreenProps<'floor'>, 'client' | 'state' | 'screen' | 'size' | 'dispatch'>;

export function usePane({ client, state, screen, size, dispatch }: PaneParts): void {
  const { chosen, pane, picker } = screen;
  // What nobody has chosen is not read: the first row is another run every other moment.
  const isWanted = chosen.id !== null && picker === null && paneWidth(size.columns) > 0;
  const row = isWanted ? chosenRow(visibleRows(officeShown(state), screen), screen) : undefined;
  const [runId, sessionId] = [row?.runId, row?.sessionId];
  useEffect(() => {
    if (runId === undefined || sessionId === undefined) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const known = pane?.runId === runId ? pane.desk : desk(sessionId);
      dispatch({ type: 'update', name: 'floor', update: (floor) => ({ ...floor, pane: { runId, desk: known } }) });
      const { signal } = controller;
      void followSession({ client, sessionId, runId, dispatch: toPane(dispatch, runId), log: known.log, signal });
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
    // The pane itself changes with each event.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [client, dispatch, runId, sessionId]);
}

/** What is done to a desk, done to that of the pane. */
function toPane(dispatch: Dispatch, runId: string): Dispatch {
  return (action) => {
    if (action.type !== 'update' || action.name !== 'desk') return;
    dispatch({
      type: 'update',
      name: 'floor',
      update: (floor) =>
        floor.pane?.runId === runId ? { ...floor, pane: { runId, desk: action.update(floor.pane.desk) } } : floor,
    });
  };
}
