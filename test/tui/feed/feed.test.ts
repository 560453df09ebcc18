import { expect, onTestFinished, test } from 'vitest';
import { makeClient } from '../../../src/client/client.ts';
import { startFeed } from '../../../src/tui/feed/feed.ts';
import { makeStore } from '../../../src/tui/app/store.ts';
import { standingOf } from '../../../src/tui/state/connection.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { initialState } from '../../../src/tui/state/state.ts';
import { visibleRows } from '../../../src/tui/state/visible.ts';
import { anEntity, anEvent, aSnapshot, aTeam, runId, startOfficeServer } from '../../support/http/office-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

async function watch(intervalMs = 60_000) {
  const server = await startOfficeServer(aSnapshot([anEntity(1)]));
  onTestFinished(() => server.die());
  const store = makeStore(initialState({ tz: 'UTC', intervalMs }, [floor()], Date.now()), {
    frameMs: 1,
    now: Date.now,
    isBusy: () => false,
  });
  const controller = new AbortController();
  const client = makeClient({ url: server.url(), token: 'k' }, controller.signal);
  let taken = 0;
  const dispatch: typeof store.dispatch = (action) => {
    store.dispatch(action);
    if (action.type === 'snapshot') taken += 1;
  };
  const feed = startFeed({ client, get: store.get, dispatch, take: store.take, now: Date.now });
  onTestFinished(() => {
    feed.stop();
    store.close();
    controller.abort();
  });
  const standing = () => standingOf(store.get().connection, Date.now()).text;
  const row = (number: number) => store.get().office.rows.get(runId(number));
  // The one that the opened stream asks for would take back what later events have said, or find nobody there.
  await waitFor(() => taken >= 2 && standing() === 'live' && row(1) !== undefined);
  return { server, store, standing, row };
}

const snapshotsOf = (requests: readonly string[]) => requests.filter((path) => path.includes('/snapshot')).length;

test('an unknown run is asked for soon, and the rows follow their events', async () => {
  const { server, store, row } = await watch();
  server.emit(anEvent(1, 'tool_use', { name: 'shell', input: { command: 'ls' } }));
  await waitFor(() => row(1)?.now === 'shell: ls');
  server.snapshot = aSnapshot([anEntity(1), anEntity(2, { session_title: 'The second' })]);
  server.emit(anEvent(2, 'run.queued'));
  await waitFor(() => visibleRows(store.get().office, floor()).some(({ title }) => title === 'The second'));
});

test('a daemon that dies and rises: the header says so, the stream resumes, and no event is missing', async () => {
  const { server, standing, row } = await watch();
  server.emit(anEvent(1, 'run.step'));
  await waitFor(() => row(1)?.now === 'thinks');
  await server.die();
  await waitFor(() => /^(not reachable|reconnecting)/.test(standing()));
  server.emit(anEvent(1, 'run.done'));
  await server.rise();
  await waitFor(() => standing() === 'live' && row(1)?.status === 'completed');
});

test('a daemon that forgot what was missed is asked for everything', async () => {
  const { server, standing, row } = await watch();
  server.emit(anEvent(1, 'run.step'));
  await waitFor(() => row(1)?.now === 'thinks');
  server.forgets = true;
  await server.die();
  server.snapshot = aSnapshot([anEntity(1, { status: 'failed', last_error: 'No model.' })]);
  await server.rise();
  await waitFor(() => standing() === 'live' && row(1)?.status === 'failed');
});

test.each([
  [401, 'the key is not valid'],
  [403, 'the key may not look on'],
  [500, 'the daemon answers 500'],
])('a daemon that answers %d shows as "%s", and it comes back by itself', async (status, text) => {
  const { server, standing } = await watch(20);
  server.status = status;
  await waitFor(() => standing().startsWith(text));
  server.status = null;
  await waitFor(() => standing() === 'live');
});

test('a slow daemon is asked once at a time', async () => {
  const { server, store } = await watch(1);
  server.delayMs = 100;
  const before = snapshotsOf(server.requests);
  const loadedAt = store.get().office.loadedAt;
  await waitFor(() => snapshotsOf(server.requests) >= before + 3);
  expect(server.mostAtOnce()).toBe(1);
  expect(store.get().office.loadedAt).toBeGreaterThan(loadedAt ?? 0);
});

test('an office in which runs begin all the time is read all the same', async () => {
  const { server, store } = await watch();
  const loadedAt = store.get().office.loadedAt ?? 0;
  let number = 100;
  const queueing = setInterval(() => server.emit(anEvent((number += 1), 'run.queued')), 20);
  onTestFinished(() => clearInterval(queueing));
  await waitFor(() => (store.get().office.loadedAt ?? 0) > loadedAt + 500);
});

const hoursOf = (requests: readonly string[]) => requests.filter((path) => path.includes('/last-hour')).length;

test('the last hour is read at the start, and again for a team that appears', async () => {
  const { server, store } = await watch(20);
  const minutesOf = (id: string) => store.get().office.flows.get(id)?.minutes;
  await waitFor(() => minutesOf('t1')?.includes(null) === false);
  expect(hoursOf(server.requests)).toBe(1);
  server.snapshot = aSnapshot([], { teams: [aTeam(1), aTeam(3)] });
  await waitFor(() => minutesOf('t3')?.includes(null) === false);
  expect(hoursOf(server.requests)).toBe(2);
});
