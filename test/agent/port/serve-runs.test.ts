// The worker's end of a thread's port: each run gets what is for it, until one of both ends closes.
import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { openOutbox } from '../../../src/agent/port/outbox.ts';
import type { Control, ThreadControl } from '../../../src/agent/port/protocol.ts';
import { type RunPort, serveRuns } from '../../../src/agent/port/serve-runs.ts';
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
  const over = serveRuns(
    port2,
    openOutbox(port2, { taken: new Int32Array(new SharedArrayBuffer(4)), windowMs: 4 }),
    ({ run }, share) => {
      const seen: Seen = { share, controls: [], isClosed: false };
      runs.set(run, seen);
      share.listen(
        (control) => seen.controls.push(control),
        () => (seen.isClosed = true),
      );
    },
  );
  const post = (message: ThreadControl) => port.postMessage(message);
  const begin = async (run: number) => {
    post({ run, brief: {} as never, waiting: new Int32Array(new SharedArrayBuffer(4)) });
    return waitFor(() => runs.get(run) ?? null);
  };
  return { port, post, begin, over };
}

const ACK: Control = { t: 'ack', ack: 1 };
const PERMIT: Control = { t: 'permit' };

test('a control is for its run only, and a run that has closed gets none: what it awaited is called off', async () => {
  const { post, begin } = makeThread();
  const [one, other] = [await begin(1), await begin(2)];
  post({ run: 2, control: ACK });
  await waitFor(() => other.controls.length === 1);
  expect([one.controls, other.controls]).toEqual([[], [ACK]]);
  one.share.close();
  expect([one.isClosed, other.isClosed]).toEqual([true, false]);
  post({ run: 1, control: ACK });
  post({ run: 2, control: PERMIT });
  await waitFor(() => other.controls.length === 2);
  expect(one.controls).toEqual([]);
});

test('a ping is answered, with runs and without', async () => {
  const { port, post } = makeThread();
  post('ping');
  const [answer] = await once(port, 'message');
  expect(answer).toEqual([]);
});

test('when the main thread closes the port, each run is told, and the task of the thread is over', async () => {
  const { port, begin, over } = makeThread();
  const runs = [await begin(1), await begin(2)];
  port.close();
  await over;
  expect(runs.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});
