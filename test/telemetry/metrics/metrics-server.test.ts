import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { makeMetricsServer } from '../../../src/telemetry/metrics/metrics-server.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

async function openServer(scrape: () => Promise<string>, clock: Clock = fakeClock()) {
  const { log, lines } = loggedLines();
  const server = makeMetricsServer({ scrape, clock, log });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ask = (path: string, method = 'GET') =>
    new Promise<{ status: number; type: string | undefined; allow: string | undefined; body: string }>(
      (resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, path, method, agent: false }, (res) => {
          text(res).then(
            (body) =>
              resolve({
                status: res.statusCode!,
                type: res.headers['content-type'],
                allow: res.headers.allow,
                body,
              }),
            reject,
          );
        });
        sent.on('error', reject);
        sent.end();
      },
    );
  return { ask, port, server, lines };
}

test('GET /metrics replies with the scrape, and nothing else is there', async () => {
  const { ask } = await openServer(async () => 'errand_ready 1\n');
  expect(await ask('/metrics')).toMatchObject({
    status: 200,
    type: 'text/plain; version=0.0.4; charset=utf-8',
    body: 'errand_ready 1\n',
  });
  expect(await ask('/metrics?debug=1')).toMatchObject({ status: 200 });
  expect(await ask('/')).toMatchObject({ status: 404, body: 'Only /metrics is here.\n' });
  expect(await ask('/metrics', 'POST')).toMatchObject({ status: 405, allow: 'GET' });
});

test('requests that come during a scrape share it, and the next one scrapes again', async () => {
  let scrapes = 0;
  const first = Promise.withResolvers<string>();
  const { ask, server } = await openServer(() => {
    scrapes += 1;
    return scrapes === 1 ? first.promise : Promise.resolve('second\n');
  });
  let begun = 0;
  server.on('request', () => (begun += 1));
  const both = [ask('/metrics'), ask('/metrics')];
  await waitFor(() => begun === 2);
  first.resolve('first\n');
  expect((await Promise.all(both)).map(({ body }) => body)).toEqual(['first\n', 'first\n']);
  expect(await ask('/metrics')).toMatchObject({ body: 'second\n' });
  expect(scrapes).toBe(2);
});

test('a scrape that takes too long is answered with 503, one that fails with 500', async () => {
  const clock = fakeClock();
  let begun = 0;
  const { ask, server } = await openServer(() => new Promise(() => {}), clock);
  server.on('request', () => (begun += 1));
  const late = ask('/metrics');
  await waitFor(() => begun === 1);
  clock.advance(10_000);
  expect(await late).toMatchObject({ status: 503, body: 'The metrics took too long to collect.\n' });

  const failing = await openServer(() => Promise.reject(new Error('out of order')));
  expect(await failing.ask('/metrics')).toMatchObject({ status: 500, body: 'The metrics could not be collected.\n' });
  expect(failing.lines).toMatchObject([{ level: 'error', msg: 'the metrics could not be collected' }]);
});

test('a connection beyond its few is dropped', async () => {
  const { port, server } = await openServer(async () => '');
  const dropped = new Promise<void>((resolve) => server.once('drop', () => resolve()));
  for (let i = 0; i <= server.maxConnections; i += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
  }
  await dropped;
});
