// The line to a browser: what arrives together is still taken one by one.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { cdpTransport } from '../../../src/agent/browser/cdp-transport.ts';

/** A transport, and the events at its near end, in order. */
function aLine() {
  const stdout = new PassThrough();
  const received: unknown[] = [];
  const closed = Promise.withResolvers<void>();
  const transport = cdpTransport({
    stdin: new PassThrough(),
    stdout,
    end: () => {
      received.push('ended');
      stdout.destroy();
    },
  });
  Object.assign(transport, {
    onmessage: (message: object) => {
      received.push(message);
      void Promise.resolve().then(() => received.push('done with it'));
    },
    onclose: () => {
      received.push('closed');
      closed.resolve();
    },
  });
  return { stdout, received, closed: closed.promise };
}

test('what follows from a message is done before the next one comes, though both arrive together', async () => {
  const { stdout, received, closed } = aLine();
  stdout.write('{"id":1}\0{"id":2}\0{"i');
  stdout.end('d":3}\0');
  await closed;
  const done = 'done with it';
  expect(received).toEqual([{ id: 1 }, done, { id: 2 }, done, { id: 3 }, done, 'closed']);
});

test('a browser that sends an invalid message is ended', async () => {
  const { stdout, received, closed } = aLine();
  stdout.write('{"id":1}\0gibberish\0{"id":2}\0');
  await closed;
  expect(received).toEqual([{ id: 1 }, 'done with it', 'ended', 'closed']);
});
