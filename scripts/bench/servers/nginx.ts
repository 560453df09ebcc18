// The system's nginx as a baseline of content that is served: one worker that sends files of a folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { waitFor } from '../../../test/support/time/wait-for.ts';
import type { MeasuredServer } from './start.ts';

const PROGRAM = '/usr/sbin/nginx';

/** Starts it; undefined when it is not installed. */
export async function startNginx(
  folder: string,
  scratch: string,
): Promise<Omit<MeasuredServer, 'loopDelay'> | undefined> {
  if (!existsSync(PROGRAM)) return undefined;
  const prefix = join(scratch, 'nginx');
  const port = await freePort();
  mkdirSync(prefix);
  writeFileSync(join(prefix, 'nginx.conf'), configuration(prefix, folder, port));
  const child = spawn(PROGRAM, ['-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const kill = (): void => void child.kill('SIGTERM');
  process.once('exit', kill);
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await waitFor(() => fetch(url).then(Boolean, () => false), { what: 'nginx' });
  return {
    target: { name: 'nginx', url, headers: {} },
    pid: () => child.pid ?? 0,
    close: async () => {
      process.off('exit', kill);
      kill();
      await ended;
    },
  };
}

/** Everything that it writes is in its own folder. `user`: started by root, its worker would be someone who can't read there. */
function configuration(prefix: string, folder: string, port: number): string {
  const locations = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${prefix}/${name};`)
    .join(' ');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${user} daemon off; error_log stderr crit; worker_processes 1; pid ${prefix}/pid; events { worker_connections 1024; }
http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; ${locations}
  server { listen 127.0.0.1:${port}; root ${folder}; } }
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
