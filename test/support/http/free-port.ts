// A port of this machine for one test.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of the loopback interface that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('No free port.');
  return address.port;
}
