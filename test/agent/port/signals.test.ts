// The worker's end of the port: order, batches, acks and permits.
import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { Signal } from '../../../src/agent/port/protocol.ts';
import { openChannel, untilHalted } from '../../../src/agent/port/signals.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { HALTED, makeHalt } from '../../../src/domain/halt.ts';
import { makeTextBlocks } from '../../../src/agent/loop/call/text-blocks.ts';
import { sitAtMain } from '../play-main.ts';
import { aloneOn } from '../run-port.ts';

function makePair(manners: Parameters<typeof sitAtMain>[1] = {}) {
  const { port1, port2 } = new MessageChannel();
  return { main: sitAtMain(port1, manners), channel: openChannel(aloneOn(port2)) };
}

const CALL = { id: 'c', name: 'echo', input: {} };
const RESULT = {
  t: 'tool-result',
  step: 1,
  call: CALL,
  result: { ok: true, output: 'x' },
  durationMs: 1,
} as const;

test('a commit resolves with its own ack only', async () => {
  const { main, channel } = makePair({ acks: () => false });
  const order: string[] = [];
  const first = channel.commit(RESULT).then(() => order.push('first'));
  const second = channel.commit(RESULT).then(() => order.push('second'));
  await main.next((signal) => 'ack' in signal && signal.ack === 2);
  main.control({ t: 'ack', ack: 2 });
  await second;
  main.control({ t: 'ack', ack: 1 });
  await first;
  expect(order).toEqual(['second', 'first']);
  channel.finish({ status: 'canceled' }, true);
});

test('a port that the main thread closes stops the run', async () => {
  const { port1, port2 } = new MessageChannel();
  const channel = openChannel(aloneOn(port2));
  port1.close();
  await waitFor(() => channel.stopped() !== null);
  expect(channel.stopped()).toEqual({ kind: 'canceled', reason: 'closed' });
});

test('an ack that never comes stops the run', async () => {
  const { port1, port2 } = new MessageChannel();
  const main = sitAtMain(port1, { acks: () => false });
  const channel = openChannel(aloneOn(port2), { ackTimeoutMs: 20 });
  await expect(channel.commit(RESULT)).rejects.toThrow();
  expect(channel.stopped()).toEqual({ kind: 'canceled', reason: 'unacknowledged' });
  main.hangUp();
});

test('a grant whose request was abandoned is returned exactly once', async () => {
  const { main, channel } = makePair({ permits: false });
  const taking = channel.takePermit('house-model');
  await main.next(({ t }) => t === 'permit-wanted');
  channel.stop({ kind: 'canceled', reason: 'stop' });
  await expect(taking).rejects.toThrow();
  main.control({ t: 'permit' });
  await main.next(({ t }) => t === 'permit-returned');
  channel.returnPermit();
  channel.finish({ status: 'canceled' }, true);
  await main.done;
  expect(main.of('permit-returned')).toHaveLength(1);
});

test('everything sent before the end arrives before it, and the end is last', async () => {
  const { main, channel } = makePair();
  const blocks = makeTextBlocks(channel, 0);
  for (let i = 0; i < 500; i += 1) blocks.write('x');
  blocks.close();
  channel.finish({ status: 'completed', text: '', stopReason: 'end_turn' }, true);
  await main.done;
  expect(main.blocks()[0]).toHaveLength(500);
  expect(main.signals.at(-1)?.t).toBe('done');
});

test('a character that the server cut in two arrives whole', () => {
  const sent: Signal[] = [];
  const blocks = makeTextBlocks({ send: (signal) => sent.push(signal) }, 0);
  const [high, low] = ['\uD83D', '\uDE00'];
  blocks.write(`a${high}`);
  blocks.write(`${low}b`);
  blocks.close();
  expect(sent.flatMap((signal) => (signal.t === 'text' ? [signal.text] : []))).toEqual(['a', '😀b']);
});

test('a halt wins over work that never ends, and over its late failure; work that has ended is heard first', async () => {
  const halt = makeHalt();
  const work = Promise.withResolvers<string>();
  const raced = untilHalted(work.promise, halt);
  expect(await untilHalted(Promise.resolve('done'), halt)).toBe('done');
  halt.halt();
  await expect(raced).rejects.toBe(HALTED);
  work.reject(new Error('too late'));
  await expect(untilHalted(new Promise(() => {}), halt)).rejects.toBe(HALTED);
});
