// Rendering in processes: hostile documents cost their limits once, and nobody else waits for them.
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { makeLog } from '../../src/log/log.ts';
import { makeRenderCache } from '../../src/rendering/render-cache.ts';
import { makeRenderer, type RendererParts } from '../../src/rendering/renderer.ts';
import { NO_CONTENTS, type RenderTask } from '../../src/rendering/rendering.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

/** Its people wait for as long as it takes, and so do its texts, on a machine that is busy. */
const PATIENT: Clock = { ...systemClock, after: (ms, call) => systemClock.after(ms < 8_000 ? ms : ms * 100, call) };

function fixture(parts: Partial<RendererParts> = {}) {
  const renderer = makeRenderer({ clock: PATIENT, log: makeLog({ level: 'fatal' }), ...parts });
  onTestFinished(() => renderer.stop());
  return renderer;
}

const links = { base: '/assets/', folder: '/', paths: [] };
const markdown = (text: string): RenderTask => ({ form: 'markdown', name: 'a.md', bytes: Buffer.from(text), links });
/** It takes minutes. */
const HOSTILE = '<b>'.repeat(300_000);

test('a text is rendered once, also for those who ask at the same time', async () => {
  const renderer = fixture();
  const load = vi.fn(async () => markdown('High *water*.'));
  const request = { key: 'a', content: 'a', owner: 'a', load };
  const results = await Promise.all([renderer.render(request), renderer.render(request)]);
  results.push(await renderer.render(request));
  for (const result of results) expect(result).toMatchObject({ kind: 'html' });
  const [first] = results;
  if (first?.kind !== 'html') throw new Error(first?.kind);
  expect(Buffer.from(first.html).toString()).toBe('<p>High <em>water</em>.</p>\n');
  // What is kept costs no more than it counts.
  expect(first.html.buffer.byteLength).toBe(first.html.byteLength);
  expect(load).toHaveBeenCalledTimes(1);
});

test('a document that takes too long is refused, and not tried again soon', async () => {
  const renderer = fixture({ maxCpuMs: 1_500 });
  const load = vi.fn(async () => markdown(HOSTILE));
  expect(await renderer.render({ key: 'hostile', content: 'hostile', owner: 'hostile', load })).toEqual({
    kind: 'refused',
  });
  expect(await renderer.render({ key: 'hostile', content: 'hostile', owner: 'hostile', load })).toEqual({
    kind: 'refused',
  });
  expect(load).toHaveBeenCalledTimes(1);
  expect(
    await renderer.render({ key: 'good', content: 'good', owner: 'good', load: async () => markdown('a') }),
  ).toMatchObject({
    kind: 'html',
  });
});

test('a text that takes too long is not tried under another address', async () => {
  const renderer = fixture({ maxCpuMs: 1_500 });
  const load = vi.fn(async () => markdown(HOSTILE));
  const requests = ['a', 'b', 'c'].map((key) => ({ key, content: 'hostile', owner: 'mallory', load }));
  const results = await Promise.all(requests.slice(0, 2).map((request) => renderer.render(request)));
  results.push(await renderer.render(requests[2]!));
  for (const result of results) expect(result).toEqual({ kind: 'refused' });
  expect(load).toHaveBeenCalledTimes(1);
});

test('owners whose texts took too long have one process together, and leave the other to the rest', async () => {
  const renderer = fixture({ maxCpuMs: 1_500 });
  const hostile = ['mallory', 'oscar', 'trudy'];
  const orderOf = (owner: string, name: string, load: () => Promise<RenderTask>) => ({
    key: `${name} of ${owner}`,
    content: `${name} of ${owner}`,
    owner,
    load,
  });
  await Promise.all(hostile.map((owner) => renderer.render(orderOf(owner, 'slow', async () => markdown(HOSTILE)))));
  const loading = Promise.withResolvers<RenderTask>();
  const waiting = hostile.map((owner) => renderer.render(orderOf(owner, 'next', () => loading.promise)));
  expect(await renderer.render(orderOf('mallory', 'third', async () => markdown('c')))).toEqual({ kind: 'busy' });
  expect(await renderer.render(orderOf('ann', 'good', async () => markdown('a')))).toMatchObject({ kind: 'html' });
  loading.resolve(markdown('b'));
  for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ kind: 'html' });
});

test('a person waits for a while only, and gets the source while the text is still rendered', async () => {
  const clock = fakeClock();
  const renderer = fixture({ clock });
  const loading = Promise.withResolvers<RenderTask>();
  const request = { key: 'a', content: 'a', owner: 'a', load: () => loading.promise };
  const first = renderer.render(request);
  await new Promise(setImmediate);
  clock.advance(8_000);
  expect(await first).toEqual({ kind: 'busy' });
  const second = renderer.render(request);
  loading.resolve(markdown('a'));
  expect(await second).toMatchObject({ kind: 'html' });
});

test('more texts than may wait are not rendered now, and are the next time', async () => {
  const renderer = fixture({ maxTasks: 1 });
  const loading = Promise.withResolvers<RenderTask>();
  const first = renderer.render({ key: 'a', content: 'a', owner: 'a', load: () => loading.promise });
  const other = { key: 'b', content: 'b', owner: 'b', load: async () => markdown('b') };
  expect(await renderer.render(other)).toEqual({ kind: 'busy' });
  loading.resolve(markdown('a'));
  expect(await first).toMatchObject({ kind: 'html' });
  expect(await renderer.render(other)).toMatchObject({ kind: 'html' });
});

test('the texts of one owner wait for each other, and others wait for none of them', async () => {
  const renderer = fixture();
  const loading = Promise.withResolvers<RenderTask>();
  const second = vi.fn(async () => markdown('b'));
  const own = [{ key: 'a', content: 'a', owner: 'mallory', load: () => loading.promise }].concat(
    ['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((key) => ({ key, content: key, owner: 'mallory', load: second })),
  );
  const waiting = own.map((request) => renderer.render(request));
  expect(await renderer.render({ key: 'i', content: 'i', owner: 'mallory', load: second })).toEqual({ kind: 'busy' });
  expect(
    await renderer.render({ key: 'z', content: 'z', owner: 'ann', load: async () => markdown('z') }),
  ).toMatchObject({
    kind: 'html',
  });
  expect(second).not.toHaveBeenCalled();
  loading.resolve(markdown('a'));
  for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ kind: 'html' });
});

test('a text waits for nothing of another owner who has published the same', async () => {
  const renderer = fixture();
  const loading = Promise.withResolvers<RenderTask>();
  const request = { key: 'a', content: 'a', load: async () => markdown('a') };
  const first = renderer.render({ key: 'b', content: 'b', owner: 'mallory', load: () => loading.promise });
  const copy = renderer.render({ ...request, owner: 'mallory' });
  expect(await renderer.render({ ...request, owner: 'ann' })).toMatchObject({ kind: 'html' });
  loading.resolve(markdown('b'));
  for (const result of await Promise.all([first, copy])) expect(result).toMatchObject({ kind: 'html' });
});

test('a source that cannot be loaded fails its own request, and is loaded the next time', async () => {
  const renderer = fixture();
  const load = vi.fn(async () => markdown('a'));
  load.mockRejectedValueOnce(new Error('gone'));
  await expect(renderer.render({ key: 'a', content: 'a', owner: 'a', load })).rejects.toThrow('gone');
  expect(await renderer.render({ key: 'a', content: 'a', owner: 'a', load })).toMatchObject({ kind: 'html' });
});

test('the cache holds a number of bytes, and forgets what was not asked for the longest', () => {
  const cache = makeRenderCache(4_000, fakeClock());
  const result = { kind: 'html', html: Buffer.alloc(1_000), contents: NO_CONTENTS } as const;
  cache.set('a', result);
  cache.set('b', result);
  expect(cache.get('a')).toBe(result);
  cache.set('c', result);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([result, undefined, result]);
  cache.set('huge', { kind: 'html', html: Buffer.alloc(10_000), contents: NO_CONTENTS });
  expect(['a', 'c', 'huge'].map((key) => cache.get(key))).toEqual([undefined, undefined, undefined]);
});

test('a refusal is forgotten after an hour', () => {
  const clock = fakeClock();
  const cache = makeRenderCache(4_000, clock);
  cache.set('a', { kind: 'refused' });
  clock.advance(3_599_999);
  expect(cache.get('a')).toEqual({ kind: 'refused' });
  clock.advance(1);
  expect(cache.get('a')).toBeUndefined();
});
