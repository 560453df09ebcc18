import { expect, test } from 'vitest';
import { OpenFeed, type Watcher } from '../../src/events/feed.ts';
import { type Frame, PAGE } from '../../src/events/past-pages.ts';
import { waitFor } from '../support/time/wait-for.ts';

const frame = (id: number, size = String(id).length): Frame => ({
  id,
  bytes: Buffer.alloc(size, String(id)),
  isLast: false,
});
const frames = (from: number, to: number): Frame[] =>
  Array.from({ length: to - from + 1 }, (_, at) => frame(from + at));

/** A feed over frames that are committed by hand. `hold` keeps looks at the past back until `release`. */
function heldFeed() {
  const stored: Frame[] = [];
  let held: PromiseWithResolvers<void> | undefined;
  let [reads, abandoned] = [0, 0];
  let isGone = false;
  const feed = new OpenFeed({
    read: async (afterId) => {
      reads += 1;
      const found = stored.filter(({ id }) => id > afterId).slice(0, PAGE);
      await held?.promise;
      return { frames: found, isCut: false };
    },
    newestId: async () => (isGone ? undefined : (stored.at(-1)?.id ?? 0)),
    abandoned: () => (abandoned += 1),
  });
  const commit = (...some: Frame[]) => {
    stored.push(...some);
    feed.publish(some);
  };
  return {
    feed,
    stored,
    commit,
    reads: () => reads,
    abandoned: () => abandoned,
    forget: () => (isGone = true),
    hold: () => (held = Promise.withResolvers<void>()),
    release: () => {
      held?.resolve();
      held = undefined;
    },
  };
}

function recorder(pause: Watcher['pause'] = () => undefined) {
  const seen: string[] = [];
  const failures: unknown[] = [];
  let ended = 0;
  const watcher: Watcher = {
    send: (bytes) => void seen.push(bytes.toString()),
    pause,
    isBehind: () => false,
    end: () => void (ended += 1),
    failed: (error) => void failures.push(error),
  };
  return { watcher, seen, failures, ended: () => ended, all: () => seen.join('') };
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at)).join('');
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('what is committed while the past is read is delivered once, in order', async () => {
  const { feed, commit, hold, release } = heldFeed();
  commit(...frames(1, 3));
  hold();
  const late = recorder();
  feed.follow(0, late.watcher);
  await settled();
  commit(frame(4));
  release();
  await settled();
  commit(frame(5));
  expect(late.all()).toBe('12345');
});

test('a watcher that resumes during a commit gets what it lacks', async () => {
  const { feed, stored, commit } = heldFeed();
  stored.push(...frames(1, 5));
  const one = recorder();
  feed.follow(2, one.watcher);
  await settled();
  expect(one.all()).toBe('345');
  // Published late: the store had it before.
  feed.publish(frames(4, 6));
  expect(one.all()).toBe('3456');
  stored.push(frame(6));
  commit(frame(7));
  expect(one.all()).toBe('34567');
});

test('many watchers that resume after the same event read its pages once', async () => {
  const { feed, stored, reads } = heldFeed();
  stored.push(...frames(1, PAGE + 50));
  const watchers = Array.from({ length: 100 }, () => recorder());
  for (const { watcher } of watchers) feed.follow(0, watcher);
  await waitFor(() => watchers.every(({ all }) => all() === numbers(1, PAGE + 50)));
  expect(reads()).toBe(2);
});

test('a reader that has to pause gets nothing meanwhile, and misses nothing', async () => {
  const { feed, stored, commit } = heldFeed();
  stored.push(frame(1, 60_000), frame(2, 60_000), frame(3, 200_000), frame(4));
  let go = Promise.withResolvers<void>();
  const slow = recorder(() => (go = Promise.withResolvers<void>()).promise);
  feed.follow(0, slow.watcher);
  await settled();
  expect(slow.seen).toHaveLength(1);
  commit(frame(5));
  for (let turn = 0; turn < 9; turn += 1) {
    go.resolve();
    await settled();
  }
  expect(slow.all().replace(/(.)\1+/g, '$1')).toBe('12345');
});

test('a watcher that has left, even in the middle of a delivery, gets nothing more', async () => {
  const { feed, commit, abandoned } = heldFeed();
  const leaving = recorder();
  const staying = recorder();
  const following = feed.follow(null, {
    ...leaving.watcher,
    send: (bytes) => {
      leaving.watcher.send(bytes);
      following.close();
    },
  });
  const other = feed.follow(null, staying.watcher);
  await settled();
  commit(frame(1));
  commit(frame(2));
  expect([leaving.all(), staying.all(), abandoned()]).toEqual(['1', '12', 0]);
  other.close();
  other.close();
  expect(abandoned()).toBe(1);
});

test('the last event ends all watchers: those who have everything, those who read, and those who come too late', async () => {
  const { feed, stored, hold, release, forget } = heldFeed();
  stored.push(frame(1));
  const live = recorder();
  feed.follow(null, live.watcher);
  await settled();
  hold();
  const reading = recorder();
  feed.follow(0, reading.watcher);
  await settled();
  feed.publish([{ ...frame(2), isLast: true }]);
  release();
  await settled();
  expect([live.all(), live.ended()]).toEqual(['2', 1]);
  expect([reading.all(), reading.ended()]).toEqual(['12', 1]);
  forget();
  const late = recorder();
  feed.follow(0, late.watcher);
  await settled();
  expect([late.all(), late.ended()]).toEqual(['', 1]);
});

test('a slow reader of a session that is deleted and erased gets its last event', async () => {
  const { feed, stored, commit } = heldFeed();
  commit(frame(1));
  let go = Promise.withResolvers<void>();
  const slow = recorder(() => (go = Promise.withResolvers<void>()).promise);
  feed.follow(0, slow.watcher);
  await settled();
  commit(frame(2), frame(3));
  stored.length = 0;
  feed.publish([{ ...frame(4), isLast: true }]);
  go.resolve();
  await settled();
  expect([slow.all(), slow.ended()]).toEqual(['14', 1]);
});

test('a past that can’t be read fails its readers, and nobody else', async () => {
  let isBroken = false;
  const feed = new OpenFeed({
    newestId: async () => 1,
    abandoned: () => undefined,
    read: async () => {
      if (isBroken) throw new Error('unreadable');
      return { frames: [], isCut: false };
    },
  });
  const first = recorder();
  feed.follow(0, first.watcher);
  await settled();
  isBroken = true;
  const second = recorder();
  feed.follow(1, second.watcher);
  await waitFor(() => second.failures.length === 1);
  feed.publish([frame(2)]);
  expect([first.all(), first.failures, second.all()]).toEqual(['2', [], '']);
  feed.fail(new Error('lost'));
  expect(first.failures).toHaveLength(1);
});
