// The worker's end of a thread's port: each run gets what is for it, until one of both ends closes.
import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import type { Control, Order } from '../../../src/agent/port/protocol.ts';
import { type RunPort, serveRuns } from '../../../src/agent/port/thread-port.ts';
import { waitFor } from '../../support/time/wait-for.ts';

interface Seen {
  readonly share: RunPort;
  readonly controls: Control[];
  isClosed: boolean;
}

function makeThread() {
  const { port1: port, port2 } = new MessageChannel();
  onTestFinished(() => port.close());
  const runs = new Map<number, Seen>();
  const over = serveRuns(port2, ({ line }, share) => {
    const run: Seen = { share, controls: [], isClosed: false };
    runs.set(line, run);
    share.listen(
      (control) => run.controls.push(control),
      () => (run.isClosed = true),
    );
  });
  const order = (what: Order) => port.postMessage(what);
  const begin = async (line: number) => {
    order({ line, brief: {} as never, waiting: new Int32Array(new SharedArrayBuffer(4)) });
    return waitFor(() => runs.get(line) ?? null);
  };
  return { port, order, begin, over };
}

const ACK: Control = { t: 'ack', ack: 1 };
const PING: Control = { t: 'ping' };

test('a word is for its run only, and a run that has closed gets none: what it awaited is called off', async () => {
  const { order, begin } = makeThread();
  const [one, other] = [await begin(1), await begin(2)];
  order({ line: 2, control: ACK });
  await waitFor(() => other.controls.length === 1);
  expect([one.controls, other.controls]).toEqual([[], [ACK]]);
  one.share.close();
  expect([one.isClosed, other.isClosed]).toEqual([true, false]);
  order({ line: 1, control: ACK });
  order({ line: 2, control: PING });
  await waitFor(() => other.controls.length === 2);
  expect(one.controls).toEqual([]);
});

test('a ping of a run that has closed is answered by its end, outside its numbering', async () => {
  const { port, order, begin } = makeThread();
  (await begin(1)).share.close();
  order({ line: 1, control: ACK });
  order({ line: 1, control: PING });
  const [answer] = await once(port, 'message');
  expect(answer).toMatchObject({ line: 1, number: -1, batch: [{ t: 'done', outcome: { status: 'canceled' } }] });
});

test('when the main thread closes the port, each run is told, and the task of the thread is over', async () => {
  const { port, begin, over } = makeThread();
  const runs = [await begin(1), await begin(2)];
  port.close();
  await over;
  expect(runs.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});
