import { expect, onTestFinished, test } from 'vitest';
import { anEntity, anEvent, aSnapshot, sessionId, startOfficeServer } from '../../support/http/office-server.ts';
import { ENTER, openOfficeView } from '../../support/terminal/office-view.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Frames come so rarely that keys are pressed before what they did is drawn. */
async function floorWith(count: number) {
  const server = await startOfficeServer(
    aSnapshot(Array.from({ length: count }, (_, at) => anEntity(at + 1, { session_title: `Work number ${at + 1}.` }))),
  );
  onTestFinished(() => server.die());
  const view = openOfficeView({ url: server.url(), frameMs: 200 });
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
