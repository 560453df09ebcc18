// The real HAProxy in front of daemons, with the configuration of the documents, until the test ends.
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { makeCertificate, pemOf } from './certificates.ts';
import { freePort } from './free-port.ts';
import { runProxy } from './run-proxy.ts';

/** Whether there is one. Says so loudly when there isn't. */
export function hasHaproxy(): boolean {
  if (spawnSync('haproxy', ['-v']).error === undefined) return true;
  console.warn('\n*** SKIPPED: behind HAProxy. It is not installed. ***\n');
  return false;
}

/** Checks the configuration, and starts it as `startNginx` does. */
export async function startHaproxy(config: string, addresses: Readonly<Record<string, string>>): Promise<number> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const { cert, key } = makeCertificate('errand.example.com');
  writeFileSync(join(directory, 'both.pem'), `${cert}${pemOf(key)}`, { mode: 0o600 });
  let here = config.replace(/bind :443 ssl crt \S+/, `bind 127.0.0.1:${port} ssl crt ${directory}/both.pem`);
  for (const [shown, own] of Object.entries(addresses)) here = here.replaceAll(shown, own);
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, here);
  execFileSync('haproxy', ['-c', '-f', file], { stdio: 'pipe' });
  await runProxy('haproxy', ['-db', '-f', file], port);
  return port;
}
