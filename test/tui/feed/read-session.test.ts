import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { makeSessionReader } from '../../../src/tui/feed/read-session.ts';
import { desk, type DeskState } from '../../../src/tui/state/desk-state.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { type AppState, initialState } from '../../../src/tui/state/state.ts';
import { AT, sessionId } from '../../support/http/office-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** A reader of one source, with the desk that it reads for. */
function reading() {
  let state: AppState = initialState({ tz: 'UTC', intervalMs: 5000 }, [desk(sessionId(1))], AT);
  let reads = 0;
  const source = { name: 'files', read: async () => ++reads, changesWith: () => true };
  const read = makeSessionReader();
  const screen = () => state.screens.at(-1) as DeskState;
  return {
    screen,
    reads: () => reads,
    look: () =>
      read(
        {} as Client,
        (action) => {
          state = reduce(state, action);
        },
        screen(),
        { source, next: () => undefined },
      ),
    /** Opens another desk of the same session. */
    reopen() {
      state = { ...state, screens: [desk(sessionId(1))] };
    },
  };
}

const shown = ({ readings }: DeskState) => readings['files']?.data;

test('what was read is not read again while it is fresh', async () => {
  const { look, screen, reads } = reading();
  look();
  await waitFor(() => shown(screen()) === 1);
  look();
  expect(reads()).toBe(1);
});

test('a desk that is opened again is read for at once', async () => {
  const { look, screen, reopen } = reading();
  look();
  await waitFor(() => shown(screen()) === 1);
  reopen();
  look();
  await waitFor(() => shown(screen()) === 2);
});
