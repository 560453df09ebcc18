// A port of this machine for one test.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The kernel gives those from 32,768 on to whoever asks for any port: one of them could be another's before it is listened at, or again. */
const [FIRST, END] = [11_000, 32_000];

/** A port of the loopback interface that nothing listens on now, and that nobody is given who doesn't ask for it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    const server = createServer();
    const isFree = once(server.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    );
    if (!(await isFree)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
