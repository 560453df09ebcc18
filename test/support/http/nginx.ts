// The real nginx in front of a daemon, with a site of the documents, until the test ends.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { waitFor } from '../time/wait-for.ts';
import { makeCertificate, pemOf } from './certificates.ts';

/** Whether there is one. Says so loudly when there isn't. */
export function hasNginx(): boolean {
  if (spawnSync('nginx', ['-v']).error === undefined) return true;
  console.warn('\n*** SKIPPED: behind nginx. It is not installed. ***\n');
  return false;
}

/** Starts it with a site that passes on to 127.0.0.1:8484, on a free port with TLS, in front of `daemonUrl`. Returns the port. */
export async function startNginx(site: string, daemonUrl: string): Promise<number> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const { cert, key } = makeCertificate('errand.example.com');
  writeFileSync(join(directory, 'cert.pem'), cert);
  writeFileSync(join(directory, 'key.pem'), pemOf(key), { mode: 0o600 });
  const here = site
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/(ssl_certificate +)[^;]+/, `$1${directory}/cert.pem`)
    .replace(/(ssl_certificate_key +)[^;]+/, `$1${directory}/key.pem`)
    .replace('127.0.0.1:8484', new URL(daemonUrl).host);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(directory, kind)};`).join(' ');
  // Otherwise its workers are those of a user who can't enter the directory.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const frame = `daemon off; ${user} pid ${directory}/nginx.pid; events {} http { access_log off; ${paths} ${here} }`;
  writeFileSync(join(directory, 'nginx.conf'), frame);
  const errors = join(directory, 'error.log');
  const nginx = spawn('nginx', ['-e', errors, '-p', directory, '-c', join(directory, 'nginx.conf')], {
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    if (nginx.exitCode !== null) return;
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
  });
  await waitFor(() => {
    if (nginx.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(errors, 'utf8')}`);
    return isOpen(port);
  });
  return port;
}

async function isOpen(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
  await response?.body?.cancel();
  // nginx answers plain HTTP on a TLS port itself.
  return response?.status === 400;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('No free port.');
  return address.port;
}
