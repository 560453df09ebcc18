// Tries the clients that people use, as they are, against a daemon of its own, and writes what works into docs/CLIENTS.md: `npm run
// test:clients [-- --only NAME] [--packages DIR]`. Coding CLIs run in a network of their own without a way out.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CLI_CLIENTS } from './cli-clients.ts';
import type { Client } from './client.ts';
import { folderOf, install } from './packages.ts';
import { openGround } from './place.ts';
import { SDK_CLIENTS } from './sdk-clients.ts';
import { renderTable, type Row, withTable } from './table.ts';
import { tryClient } from './trials.ts';

const PAGE = fileURLToPath(new URL('../../docs/CLIENTS.md', import.meta.url));

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    packages: { type: 'string', default: path.join(tmpdir(), 'errand-clients-packages') },
    inside: { type: 'boolean', default: false },
  },
});
const clients = [...SDK_CLIENTS, ...CLI_CLIENTS].filter(({ name }) =>
  name.toLowerCase().includes(options.only.toLowerCase()),
);

if (options.inside) await tryAll(clients);
else {
  await mkdir(options.packages, { recursive: true });
  for (const client of clients) install(client, options.packages);
  goInside();
}

/** Goes on in a network that has nothing but its loopback device. */
function goInside(): void {
  if (process.getuid?.() !== 0) {
    process.stdout.write(
      'SKIPPED: only root may make a network without a way out, which keeps the clients on this machine\n',
    );
    return;
  }
  const self = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2), '--inside'];
  execFileSync(
    'unshare',
    [
      '--net',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      'ip link set lo up && exec "$@"',
      'sh',
      ...self,
    ],
    { stdio: 'inherit' },
  );
}

async function tryAll(all: readonly Client[]): Promise<void> {
  const rows: Row[] = [];
  for (const client of all) {
    const folder = folderOf(client, options.packages);
    const ground = await openGround();
    try {
      const row = { client, outcomes: await tryClient(client, ground, folder ?? '') };
      process.stdout.write(`${renderTable([row], { withFaults: true })}\n`);
      rows.push(row);
    } finally {
      await ground.close();
    }
  }
  const faults = rows
    .flatMap(({ outcomes }) => Object.values(outcomes))
    .filter((outcome) => typeof outcome !== 'string');
  if (faults.length > 0) process.exitCode = 1;
  if (options.only === '') await writeFile(PAGE, withTable(await readFile(PAGE, 'utf8'), renderTable(rows)));
}
