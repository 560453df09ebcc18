// What a collector may do to the daemon: hang, reply without end, and send it elsewhere.
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeExporter } from '../../../src/telemetry/traces/exporter.ts';

const SECRET = 'Bearer of-the-collector';

async function openCollector(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(endpoint: string, signal = new AbortController().signal) {
  const exporter = makeExporter();
  onTestFinished(exporter.close);
  return exporter.send({ endpoint, headers: { authorization: SECRET } }, '{}', signal);
}

test('a redirect is not followed, and its target gets no header', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const target = await openCollector((req, res) => {
    seen.push(req.headers);
    res.end('{}');
  });
  const collector = await openCollector((_, res) => res.writeHead(307, { location: `${target}/v1/traces` }).end());
  expect(await send(collector)).toEqual({ ok: false, again: false, waitMs: 0, why: 'the collector replied with 307' });
  expect(seen).toEqual([]);
});

test('of a reply that never ends only the start is read, and its connection is closed', async () => {
  const closed = Promise.withResolvers<void>();
  const collector = await openCollector((_, res) => {
    res.writeHead(200);
    const more = () => {
      while (!res.destroyed && res.write('x'.repeat(65_536)));
    };
    res.on('drain', more).on('close', closed.resolve);
    more();
  });
  expect(await send(collector)).toEqual({ ok: true, rejected: 0 });
  await closed.promise;
});

test('a collector that does not reply is left after the time limit, and at once when the daemon stops', async () => {
  const limits: AbortController[] = [];
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    limits.push(new AbortController());
    return limits.at(-1)!.signal;
  });
  onTestFinished(() => timeout.mockRestore());
  let asked = Promise.withResolvers<void>();
  const collector = await openCollector(() => asked.resolve());
  const late = send(collector);
  await asked.promise;
  limits[0]!.abort(new Error('late'));
  expect(await late).toMatchObject({ ok: false, again: true, why: 'late' });

  asked = Promise.withResolvers();
  const stopping = new AbortController();
  const stopped = send(collector, stopping.signal);
  await asked.promise;
  stopping.abort(new Error('stopped'));
  expect(await stopped).toMatchObject({ ok: false, again: true, why: 'stopped' });
  expect(timeout).toHaveBeenCalledWith(10_000);
});

test.each([
  '[]',
  'null',
  '{"partialSuccess":{"rejectedSpans":"3"}}',
  '{"partialSuccess":{"rejectedSpans":{}}}',
  '<html>',
])('a reply of %s is understood, or means that all was taken', async (text) => {
  const collector = await openCollector((_, res) => res.end(text));
  expect(await send(collector)).toEqual({ ok: true, rejected: text.includes('"3"') ? 3 : 0 });
});

test('a failure says nothing of the headers', async () => {
  const end = await send('http://127.0.0.77:9');
  expect(end).toMatchObject({ ok: false, again: true });
  expect(JSON.stringify(end)).not.toContain(SECRET);
});
