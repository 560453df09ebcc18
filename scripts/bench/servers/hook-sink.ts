// Receivers of webhooks: four living ports, and one that accepts connections and never replies. `node hook-sink.ts` prints one
// JSON line {"url","pid"} when it is ready. `GET /ports` says where they are, `GET /taken` what arrived since it was last asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createBareServer, type AddressInfo, type Server } from 'node:net';

const PORTS = 4;
const OCCURRED = /"occurred_at":"([^"]+)"/;
let count = 0;
let delaysMs: number[] = [];

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const arrivedAt = Date.now();
    count += 1;
    const text = Buffer.concat(chunks).toString('latin1');
    delaysMs.push(arrivedAt - Date.parse(OCCURRED.exec(text)?.[1] ?? ''));
    response.writeHead(204).end();
  });
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const living = await Promise.all(Array.from({ length: PORTS }, () => listen(createServer(receive))));
const hanging = await listen(createBareServer((socket) => socket.on('error', () => undefined).resume()));
const take = () => {
  const taken = { count, delaysMs };
  [count, delaysMs] = [0, []];
  return taken;
};
const control = createServer((request, response) => {
  response.end(JSON.stringify(request.url === '/ports' ? { living, hanging } : take()));
});
const url = await listen(control);
process.stdout.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
