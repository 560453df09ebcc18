// The baseline of any server in between: passes each request to the model server and its reply back, and does nothing else.
// `node pass-through.ts MODEL_SERVER_URL` prints one JSON line {"url","pid"} when it is ready.
import { Agent, createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

const upstream = new URL('/v1/chat/completions', process.argv[2]);
const agent = new Agent({ keepAlive: true });

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const onward = sendRequest(upstream, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' });
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid })}\n`);
});
