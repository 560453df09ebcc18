// The baseline of content that is served: a bare node:http server that sends files of a folder. `node file-server.ts FOLDER`
// prints one JSON line {"url","pid"} when it is ready.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const folder = process.argv[2]!;

async function send(path: string, response: ServerResponse): Promise<void> {
  const { size } = await stat(path);
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
  createReadStream(path).pipe(response);
}

const server = createServer((request, response) => void send(join(folder, request.url!), response));

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid })}\n`);
});
