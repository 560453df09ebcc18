// The baseline of any live stream: a bare node:http server that sends every watcher of a channel the same events. `node
// fan-out.ts CHANNELS EVERY_MS` prints one JSON line {"url","pid"} when it is ready; channels are paths `/0`, `/1`, …
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { machineMs } from '../load.ts';

const [channels = 1, everyMs = 50] = process.argv.slice(2).map(Number);
const watchers = Array.from({ length: channels }, () => new Set<ServerResponse>());
let id = 0;

const server = createServer((request, response) => {
  const own = watchers[Number(request.url!.slice(1))]!;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  own.add(response);
  response.once('close', () => own.delete(response));
});

for (const [at, own] of watchers.entries()) {
  const send = () => {
    const text = `@${Math.round(machineMs() * 1_000)};word${id} `;
    // As large as the events that it is compared with.
    const data = { id: (id += 1), type: 'content_block_delta', session_id: 'x'.repeat(36), run_id: 'x'.repeat(36) };
    const payload = { index: 0, delta: { type: 'text_delta', text } };
    const event = JSON.stringify({ ...data, stream_seq: id, payload });
    const bytes = Buffer.from(`id: ${id}\nevent: content_block_delta\ndata: ${event}\n\n`);
    for (const response of own) response.write(bytes);
  };
  setTimeout(() => setInterval(send, everyMs), (everyMs * at) / channels);
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid })}\n`);
});
