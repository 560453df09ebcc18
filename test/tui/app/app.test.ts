import { expect, onTestFinished, test } from 'vitest';
import { anEntity, anEvent, aSnapshot, sessionId, startOfficeServer } from '../../support/http/office-server.ts';
import type { FloorState } from '../../../src/tui/state/screens.ts';
import { ENTER, openOfficeView } from '../../support/terminal/office-view.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Frames come so rarely that keys are pressed before what they did is drawn. */
async function floorWith(count: number, columns = 100) {
  const server = await startOfficeServer(
    aSnapshot(Array.from({ length: count }, (_, at) => anEntity(at + 1, { session_title: `Work number ${at + 1}.` }))),
  );
  onTestFinished(() => server.die());
  const view = openOfficeView({ url: server.url(), frameMs: 200, columns });
  onTestFinished(view.close);
  await view.until(count === 0 ? /● live[^]*No runs today/ : /● live[^]*Work number 1\./);
  const desk = () => view.state().screens.find((screen) => screen.name === 'desk');
  return { server, view, desk };
}

test.each([
  [['/', 'number 3.', ENTER, ENTER]],
  [['/number 3.', ENTER, ENTER]],
  [['/', 'number 3.\r\r']],
  [['/', 'n', 'umber 3', '.\r', ENTER]],
])('%j finds a run and opens it, however fast it is typed', async (inputs) => {
  const { view, desk } = await floorWith(5);
  view.press(...inputs);
  await waitFor(() => desk() !== undefined);
  expect(desk()).toMatchObject({ sessionId: sessionId(3) });
  expect(view.state().screens[0]).toMatchObject({ find: 'number 3.', isFinding: false });
});

test('the field finds while somebody types, and letters mean keys again after it', async () => {
  const { view } = await floorWith(5);
  view.press('/');
  await view.until(/\/ *$/m);
  view.press('number 4');
  await view.until('1/1 of 5');
  view.press(ENTER, 's');
  await view.until('/number 4');
  expect(view.state().screens[0]).toMatchObject({ find: 'number 4', status: 'running' });
});

test('each of many keys counts, drawn or not', async () => {
  const { view } = await floorWith(20);
  view.press(...Array.from('jjjjjjk'), 'jj');
  await view.until('8/20');
});

test('all live runs are reached, however many there are', async () => {
  const live = Array.from({ length: 300 }, (_, at) => anEntity(at + 1, { session_title: `Work number ${at + 1}.` }));
  const { server, view } = await floorWith(0);
  server.live = live;
  const { overview } = aSnapshot(live);
  server.snapshot = aSnapshot(live.slice(0, 96), { overview });
  server.emit(anEvent(1, 'run.queued'));
  await view.until('1/96 of 300');
  await waitFor(() => {
    view.press('G');
    return view.screen().includes('300/300');
  });
});

test('a team is chosen by typing, whatever the letters mean elsewhere', async () => {
  const { view } = await floorWith(5);
  view.press('t', 'q', '\u007f', 'sal');
  await view.until('Team: sal');
  view.press(ENTER);
  await waitFor(() => (view.state().screens[0] as FloorState).teamId === 't2');
});

test('beside the list only the run is read on which somebody rests, and its events are read along', async () => {
  const { server, view } = await floorWith(5, 200);
  const reads = () => server.requests.filter((request) => request.includes('stream-events'));
  server.emit(anEvent(4, 'content_block_delta', { delta: { text: 'From the **beginning**' } }));
  await view.until(/│ Work number 1\.[^]*reads along with a run/);
  expect(reads()).toEqual([]);
  view.press('jjj');
  await view.until(/│ +From the beginning/);
  expect(reads()).toEqual([expect.stringContaining(sessionId(4))]);
  server.emit(anEvent(4, 'content_block_delta', { delta: { text: ', and on.' } }));
  await view.until(/│ +From the beginning, and on\./);
  server.say(1, 'these are the last words', 1);
  await view.until(/“.*the last words/);
});
