// A session on the screen, as it happens. Its component and its keys.
import process from 'node:process';
import { useEffect, useRef } from 'react';
import type { Client } from '../../client/client.ts';
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import { h } from '../screen/element.ts';
import { Lines } from '../screen/lines.ts';
import { moveKeys } from '../screen/move-keys.ts';
import type { Pressed, Screen, ScreenProps } from '../screen/screen.ts';
import { type DeskState, TAB_NAMES } from '../state/desk-state.ts';
import type { Action, Dispatch } from '../state/state.ts';
import { deskFrame, itemsOf, roomOf, textOfDesk, viewOfDesk } from './desk-frame.ts';
import { chooseFile, chosenFile, freshAddress } from './files.ts';
import { followSession, readEnd, readPage, updateDesk } from '../feed/follow-session.ts';
import { useReading } from './reading.ts';
import { saveFile } from './save-file.ts';
import { TABS } from './tabs.ts';
import { scrolled, type View } from '../transcript/viewport.ts';
import { type Layout, moveCall, toggleCall } from './calls.ts';

function Desk({ client, state, screen, size, theme, dispatch }: ScreenProps<'desk'>) {
  const { sessionId, log } = screen;
  const known = useRef(log);
  known.current = log;
  // Whoever looks at a past without room for the present follows again from where that past ends.
  useEffect(() => {
    if (!log.isAtEnd) return undefined;
    const controller = new AbortController();
    void followSession({ client, sessionId, dispatch, log: known.current, signal: controller.signal });
    return () => controller.abort();
  }, [client, sessionId, dispatch, log.isAtEnd]);
  const view = viewOfDesk(state, screen, size);
  useReading({ client, state, screen, view, dispatch });
  useSaving(client, screen, dispatch);
  usePages({ client, screen, view, dispatch });
  return h(Lines, { lines: deskFrame(state, screen, size), theme });
}

/** Fetches the file that is wanted. */
function useSaving(client: Client, { sessionId, wanted }: DeskState, dispatch: Dispatch) {
  useEffect(() => {
    if (wanted === null) return;
    updateDesk(dispatch, sessionId, () => ({ wanted: null }));
    const notify = (text: string) => dispatch({ type: 'notice', text, at: Date.now() });
    notify(`Saving ${wanted.name}…`);
    void saveWanted(client, sessionId, wanted).then(notify);
  }, [client, sessionId, wanted, dispatch]);
}

type Wanted = NonNullable<DeskState['wanted']>;

async function saveWanted(client: Client, sessionId: string, { path, name }: Wanted): Promise<string> {
  try {
    const url = await freshAddress(client, sessionId, path);
    return url === null ? `Not saved: ${name} is gone.` : await saveFile(client, { url, name }, process.cwd());
  } catch (error) {
    if (error instanceof ClientError || isAborted(error)) return `Not saved: ${(error as Error).message}`;
    throw error;
  }
}

interface PageParts extends Pick<ScreenProps<'desk'>, 'client' | 'screen' | 'dispatch'> {
  readonly view: View;
}

/** Reads on where the user comes to an end of what is in memory. */
function usePages({ client, screen, view, dispatch }: PageParts) {
  const isReading = useRef(false);
  const { sessionId, log, tab, positions } = screen;
  useEffect(() => {
    if (isReading.current || (tab !== 'live' && tab !== 'events')) return;
    const isBack = positions[tab] !== undefined;
    const work =
      !log.isAtEnd && !isBack
        ? readEnd(client, sessionId)
        : log.hasOlder && view.isAtStart
          ? readPage(client, screen, 'older')
          : !log.isAtEnd && view.isAtEnd
            ? readPage(client, screen, 'newer')
            : undefined;
    if (work === undefined) return;
    isReading.current = true;
    work
      .then((change) => change && updateDesk(dispatch, sessionId, change))
      .catch(() => undefined)
      .finally(() => {
        isReading.current = false;
      });
  });
}

const set = (change: (screen: DeskState) => Partial<DeskState>): Action => ({
  type: 'update',
  name: 'desk',
  update: (screen) => ({ ...screen, ...change(screen) }),
});

type Press = (pressed: Pressed<'desk'>) => ReturnType<Screen<'desk'>['press']>;

/** Among files, what is chosen moves, and the view with it. */
const scroll =
  (by: (rows: number) => number): Press =>
  ({ state, size }) =>
    set((screen) => {
      const { rows } = roomOf(size);
      if (screen.tab === 'files') return chooseFile(screen, by(rows), rows);
      const position = scrolled(itemsOf(state, screen, size), screen.positions[screen.tab], by(rows), rows);
      return { positions: { ...screen.positions, [screen.tab]: position } };
    });

const page = (rows: number) => Math.max(1, rows - 1);

const turn =
  (by: number): Press =>
  () =>
    set(({ tab }) => {
      const at = TABS.findIndex(({ name }) => name === tab);
      return { tab: TABS[(at + by + TABS.length) % TABS.length]?.name ?? tab };
    });

const toTabs = Object.fromEntries(
  TABS.map(({ name }, at): [string, Press] => [String(at + 1), () => set(() => ({ tab: name }))]),
);

const TOGGLE = set(({ isUnfolded }) => ({ isUnfolded: !isUnfolded }));

/** On the live tab alone. */
const onCall =
  (change: (screen: DeskState, layout: Layout) => DeskState): Press =>
  ({ state, screen, size }) => {
    if (screen.tab !== 'live') return undefined;
    return set((now) => change(now, { items: (wanted) => itemsOf(state, wanted, size), rows: roomOf(size).rows }));
  };

const PRESSES: Readonly<Record<string, Press>> = {
  ...toTabs,
  ...moveKeys(scroll, page),
  left: turn(-1),
  right: turn(1),
  tab: turn(1),
  enter: (pressed) => (pressed.screen.tab === 'live' ? onCall(toggleCall)(pressed) : TOGGLE),
  e: () => TOGGLE,
  n: onCall((screen, layout) => moveCall(screen, 1, layout)),
  N: onCall((screen, layout) => moveCall(screen, -1, layout)),
  v: ({ state, screen, size }) => ({ type: 'page', text: textOfDesk(state, screen, size) }),
  escape: ({ screen }) => (screen.call === null ? undefined : set(() => ({ call: null }))),
  d: ({ screen }) => (screen.tab === 'files' ? set(() => ({ wanted: chosenFile(screen) })) : undefined),
  y: ({ screen }) => ({ type: 'copy', what: 'session', text: screen.sessionId }),
};

export const deskScreen: Screen<'desk'> = {
  Component: Desk,
  press: (pressed) => PRESSES[pressed.key]?.(pressed),
  help: [
    [`1-${TAB_NAMES.length}  ← →`, 'choose a tab'],
    ['↑ ↓  j k', 'scroll; the past is read as you come to it'],
    ['G', 'the newest; g: the oldest in memory'],
    ['n  N', 'the next call, the one before'],
    ['Enter  e', 'this call in full, everything in full; again: folded'],
    ['v', 'all of it, or the chosen call, in your pager'],
    ['d', 'save the chosen file in the current folder'],
    ['y', 'copy the id of the session'],
    ['Esc', 'no call; back to the floor'],
  ],
};
