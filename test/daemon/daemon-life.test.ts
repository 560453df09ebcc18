// The order of a drain.
import { expect, test } from 'vitest';
import { makeDaemon } from '../../src/daemon/daemon-life.ts';

test('a drain first leaves new connections to the next daemon, and only then refuses turns', async () => {
  const calls: string[] = [];
  const note = (name: string) => () => void calls.push(name);
  const [closing, draining] = [new AbortController(), new AbortController()];
  closing.signal.addEventListener('abort', note('refuse turns'));
  const daemon = makeDaemon({
    url: 'http://127.0.0.1:1',
    created: null,
    closers: [note('close')],
    log: { info: () => undefined },
    live: { settings: () => ({ streams: { drainSeconds: 30 } }) },
    rooms: {
      queue: { pause: () => undefined, idle: () => Promise.resolve(), release: () => Promise.resolve() },
      pool: { load: () => ({ busy: 0 }) },
    },
    closing,
    draining,
    manager: { stopping: note('report') },
    handOver: note('hand over'),
    lost: new Promise(() => undefined),
  } as unknown as Parameters<typeof makeDaemon>[0]);
  await daemon.drain();
  expect(calls).toEqual(['report', 'hand over', 'refuse turns', 'close']);
});
