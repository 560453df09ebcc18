import { expect, onTestFinished, test } from 'vitest';
import { makeClient } from '../../src/client/client.ts';
import type { OfficeNews } from '../../src/client/office-stream.ts';
import { anEvent, startOfficeServer } from '../support/http/office-server.ts';

async function follow(lastEventId: string | null = null) {
  const server = await startOfficeServer();
  onTestFinished(() => server.die());
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const { office } = makeClient({ url: server.url(), token: 'k' });
  const news = office.follow({ lastEventId, retryDelaysMs: [5, 20], signal: controller.signal });
  const next = async (): Promise<OfficeNews> => (await news.next()).value as OfficeNews;
  /** Passes over what was lost on the way. */
  const until = async (kind: OfficeNews['kind']): Promise<OfficeNews> => {
    for (;;) {
      const one = await next();
      if (one.kind === kind) return one;
    }
  };
  return { server, controller, news, next, until };
}

test('a daemon that dies and comes back costs no event: the stream resumes after the last one', async () => {
  const { server, next, until } = await follow();
  expect(await next()).toEqual({ kind: 'open', resumed: false });
  server.emit(anEvent(1, 'run.started'));
  expect(await next()).toMatchObject({ kind: 'event', event: { id: 1, type: 'run.started' } });
  await server.die();
  server.emit(anEvent(1, 'run.done'));
  expect(await next()).toMatchObject({ kind: 'lost', failure: { failure: { kind: 'lost' } }, retryMs: 5 });
  expect(await next()).toMatchObject({ kind: 'lost', failure: { failure: { kind: 'unreachable' } }, retryMs: 20 });
  await server.rise();
  expect(await until('open')).toEqual({ kind: 'open', resumed: true });
  expect(await next()).toMatchObject({ kind: 'event', event: { id: 2, type: 'run.done' } });
});

test('words come after events that are newer, and nothing is asked for again because of them', async () => {
  const { server, next, until } = await follow();
  await next();
  server.emit(anEvent(1, 'run.started'));
  server.emit(anEvent(2, 'run.started'));
  expect([await next(), await next()]).toMatchObject([{ event: { id: 1 } }, { event: { id: 2 } }]);
  server.say(1, 'and so', 1);
  expect(await next()).toMatchObject({ event: { id: 1, type: 'run.words', payload: { text: 'and so' } } });
  await server.die();
  server.emit(anEvent(1, 'run.done'));
  await server.rise();
  await until('open');
  expect(await next()).toMatchObject({ event: { id: 3, type: 'run.done' } });
});

test('a daemon that has forgotten what was missed says so, and from there on nothing is missing', async () => {
  const { server, next, until } = await follow('7');
  server.emit(anEvent(1, 'run.queued'));
  server.forgets = true;
  expect(await next()).toEqual({ kind: 'open', resumed: true });
  expect(await next()).toEqual({ kind: 'reset', id: '1' });
  await server.die();
  server.forgets = false;
  server.emit(anEvent(1, 'run.started'));
  await server.rise();
  expect(await until('open')).toEqual({ kind: 'open', resumed: true });
  expect(await next()).toMatchObject({ kind: 'event', event: { id: 2, type: 'run.started' } });
});

test.each([401, 403, 500, 503])('a daemon that answers %d is tried again until it is well', async (status) => {
  const { server, next, until } = await follow();
  server.status = status;
  expect(await next()).toMatchObject({ kind: 'lost', failure: { failure: { kind: 'refused', status } } });
  server.status = null;
  expect(await until('open')).toEqual({ kind: 'open', resumed: false });
});

test('following ends with its signal, also while it waits for a daemon', async () => {
  const { server, controller, news, next } = await follow();
  await server.die();
  expect(await next()).toMatchObject({ kind: 'lost' });
  controller.abort();
  expect(await news.next()).toEqual({ done: true, value: undefined });
});
