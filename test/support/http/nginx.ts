// The real nginx in front of daemons, with a site of the documents, until the test ends.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { makeCertificate, pemOf } from './certificates.ts';
import { freePort } from './free-port.ts';
import { runProxy } from './run-proxy.ts';

/** Whether there is one. Says so loudly when there isn't. */
export function hasNginx(): boolean {
  if (spawnSync('nginx', ['-v']).error === undefined) return true;
  console.warn('\n*** SKIPPED: behind nginx. It is not installed. ***\n');
  return false;
}

/** Starts it on a free port with TLS. `addresses`: those of the site, each with the one it stands for. Returns the port. */
export async function startNginx(site: string, addresses: Readonly<Record<string, string>>): Promise<number> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const { cert, key } = makeCertificate('errand.example.com');
  writeFileSync(join(directory, 'cert.pem'), cert);
  writeFileSync(join(directory, 'key.pem'), pemOf(key), { mode: 0o600 });
  let here = site
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/(ssl_certificate +)[^;]+/, `$1${directory}/cert.pem`)
    .replace(/(ssl_certificate_key +)[^;]+/, `$1${directory}/key.pem`);
  for (const [shown, own] of Object.entries(addresses)) here = here.replaceAll(shown, own);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(directory, kind)};`).join(' ');
  // Otherwise its workers are those of a user who can't enter the directory.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const frame = `daemon off; ${user} pid ${directory}/nginx.pid; events {} http { access_log off; ${paths} ${here} }`;
  writeFileSync(join(directory, 'nginx.conf'), frame);
  const args = ['-e', 'stderr', '-p', directory, '-c', join(directory, 'nginx.conf')];
  await runProxy('nginx', args, port);
  return port;
}
