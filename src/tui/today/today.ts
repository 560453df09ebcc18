// Today's runs of a team, page by page. Its component and its keys.
import { useEffect, useRef } from 'react';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/transport/client-error.ts';
import { h } from '../screen/element.ts';
import { Lines } from '../screen/lines.ts';
import { moveKeys } from '../screen/move-keys.ts';
import type { Pressed, Screen, ScreenProps } from '../screen/screen.ts';
import { desk } from '../state/desk-state.ts';
import { FIRST } from '../state/desk-state.ts';
import { nextOf, type TodayState } from '../state/screens.ts';
import type { Action, Dispatch } from '../state/state.ts';
import { indexOfChoice, moveChoice } from '../state/visible.ts';
import { PAGE_LIMIT, todayFrame } from './today-frame.ts';

function Today({ client, state, screen, size, theme, dispatch }: ScreenProps<'today'>) {
  const { tz } = state.preferences;
  const { loadedAt } = state.office;
  const asked = useRef('');
  // Each snapshot of the office is the occasion to read the page again, unless the daemon still reads it.
  useEffect(() => {
    const page = { teamId: screen.teamId, source: screen.source, page: screen.page, tz };
    const key = JSON.stringify(page);
    if (asked.current === key) return;
    asked.current = key;
    void load(client, page, dispatch).finally(() => {
      if (asked.current === key) asked.current = '';
    });
  }, [client, dispatch, screen.teamId, screen.source, screen.page, tz, loadedAt]);
  return h(Lines, { lines: todayFrame(state, screen, size), theme });
}

type Page = Pick<TodayState, 'teamId' | 'source' | 'page'> & { readonly tz: string };

/** An answer that comes after the user has gone on to another page changes nothing. */
async function load(client: Client, asked: Page, dispatch: Dispatch): Promise<void> {
  const { teamId, source, page, tz } = asked;
  const answer = (over: Partial<TodayState>) =>
    dispatch({
      type: 'update',
      name: 'today',
      update: (screen) =>
        screen.teamId === teamId && screen.source === source && screen.page === page ? { ...screen, ...over } : screen,
    });
  try {
    const query = { limit: PAGE_LIMIT, page, tz, ...(source !== null && { source_type: source }) };
    answer({ runs: await client.office.todayRuns(teamId, query), failure: null });
  } catch (error) {
    if (error instanceof ClientError) answer({ failure: error });
  }
}

const set = (over: Partial<TodayState>): Action => ({
  type: 'update',
  name: 'today',
  update: (screen) => ({ ...screen, ...over }),
});

type Press = (pressed: Pressed<'today'>) => ReturnType<Screen<'today'>['press']>;

const idsOf = ({ runs }: TodayState) => (runs?.items ?? []).map(({ id }) => id);

const move =
  (by: (pressed: Pressed<'today'>) => number): Press =>
  (pressed) =>
    set({ chosen: moveChoice(idsOf(pressed.screen), pressed.screen.chosen, by(pressed)) });

const turn =
  (by: number): Press =>
  ({ screen: { page, runs } }) => {
    if (by > 0 && runs?.has_more !== true) return undefined;
    return page + by < 1 ? undefined : set({ page: page + by, chosen: FIRST, runs: null });
  };

const chosenItem = ({ screen }: Pressed<'today'>) => screen.runs?.items[indexOfChoice(idsOf(screen), screen.chosen)];

const SOURCES = [null, 'normal_session', 'scheduled_task'] as const;

const PRESSES: Readonly<Record<string, Press>> = {
  ...moveKeys(move, ({ size }) => Math.max(1, size.rows - 8)),
  left: turn(-1),
  right: turn(1),
  s: ({ screen }) => set({ source: nextOf(SOURCES, screen.source), page: 1, chosen: FIRST, runs: null }),
  enter: (pressed) => {
    const item = chosenItem(pressed);
    if (item === undefined) return undefined;
    if (item.is_deleted) return { type: 'notice', text: 'This session was deleted.', at: pressed.state.now };
    return { type: 'open', screen: desk(item.session_id) };
  },
  y: (pressed) => {
    const item = chosenItem(pressed);
    return item && { type: 'copy', what: 'session', text: item.session_id };
  },
};

export const todayScreen: Screen<'today'> = {
  Component: Today,
  press: (pressed) => PRESSES[pressed.key]?.(pressed),
  help: [
    ['↑ ↓  j k', 'choose a run'],
    ['← →  h l', 'the page before, and the next one'],
    ['s', 'all, only conversations, only scheduled tasks'],
    ['Enter', 'open the session'],
    ['y', 'copy the id of the session'],
    ['Esc', 'back to the floor'],
  ],
};
