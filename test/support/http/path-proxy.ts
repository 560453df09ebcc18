// A proxy that serves a daemon below a path, which it takes off.
import { createServer, request } from 'node:http';
import { once } from 'node:events';

export interface PathProxy {
  readonly close: () => Promise<void>;
}

/** Starts it on a port of this machine; what isn't below the path is 404. */
export async function startPathProxy(port: number, path: string, target: string): Promise<PathProxy> {
  const server = createServer((req, res) => {
    const { url = '', method, headers } = req;
    if (!url.startsWith(`${path}/`)) {
      res.writeHead(404).end('Nothing of the daemon is here.');
      return;
    }
    const passed = request(`${target}${url.slice(path.length)}`, { method, headers }, (reply) => {
      res.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(res);
    });
    passed.once('error', () => res.destroy());
    res.once('close', () => passed.destroy());
    req.pipe(passed);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
