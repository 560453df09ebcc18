import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { makeStore } from '../../../src/tui/app/store.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { initialState } from '../../../src/tui/state/state.ts';
import { anEvent, AT } from '../../support/http/office-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

function open() {
  const setting = { isBusy: false };
  const store = makeStore(initialState({ tz: 'UTC', intervalMs: 5000 }, [floor()], AT), {
    frameMs: 5,
    now: () => AT,
    isBusy: () => setting.isBusy,
  });
  onTestFinished(store.close);
  let frames = 0;
  store.subscribe(() => {
    frames += 1;
  });
  return { store, setting, frames: () => frames };
}

test('however many events come at once, they are one frame', async () => {
  const { store, frames } = open();
  for (let id = 1; id <= 5000; id += 1) store.take({ id, ...anEvent(id % 50, 'run.queued') });
  expect(frames()).toBe(0);
  await waitFor(() => frames() === 1);
  expect(store.get().office.rows.size).toBe(50);
});

test('what changes nothing draws nothing', async () => {
  const { store, frames } = open();
  store.dispatch({ type: 'back' });
  store.dispatch({ type: 'notice', text: 'x', at: AT });
  await waitFor(() => frames() === 1);
  store.dispatch({ type: 'back' });
  await pause(50);
  expect(frames()).toBe(1);
});

test('a terminal that takes nothing gets no further frame, and the newest state once it does', async () => {
  const { store, setting, frames } = open();
  setting.isBusy = true;
  store.dispatch({ type: 'notice', text: 'one', at: AT });
  await pause(50);
  expect(frames()).toBe(0);
  store.dispatch({ type: 'notice', text: 'two', at: AT });
  setting.isBusy = false;
  await waitFor(() => frames() === 1);
  expect(store.get().notice?.text).toBe('two');
});
