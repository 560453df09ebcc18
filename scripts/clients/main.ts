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
import { folderOf, install, type Installed } from './packages.ts';
import { type Ground, openGround } from './place.ts';
import { LIBRARY_CLIENTS } from './library-clients.ts';
import { SDK_CLIENTS } from './sdk-clients.ts';
import { PLACES, renderTable, renderToolTable, type Row, type ToolRow, withTable } from './table.ts';
import { TOOL_CLIENTS } from './tool-clients.ts';
import { tryToolClient } from './tool-trials.ts';
import { type Outcome, tryClient } from './trials.ts';

const PAGE = fileURLToPath(new URL('../../docs/CLIENTS.md', import.meta.url));

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    packages: { type: 'string', default: path.join(tmpdir(), 'errand-clients-packages') },
    inside: { type: 'boolean', default: false },
  },
});
const isMeant = ({ name }: { readonly name: string }) => name.toLowerCase().includes(options.only.toLowerCase());
const clients = [...SDK_CLIENTS, ...LIBRARY_CLIENTS, ...CLI_CLIENTS].filter(isMeant);
const toolClients = TOOL_CLIENTS.filter(isMeant);

if (options.inside) await tryAll();
else {
  await mkdir(options.packages, { recursive: true });
  for (const client of [...clients, ...toolClients]) install(client, options.packages);
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

async function tryAll(): Promise<void> {
  const rows: Row[] = [];
  for (const client of clients) {
    const row = { client, outcomes: await onGround(client, tryClient) };
    process.stdout.write(`${renderTable([row], { withFaults: true })}\n`);
    rows.push(row);
  }
  const toolRows: ToolRow[] = [];
  for (const client of toolClients) {
    const row = { client, outcomes: await onGround(client, tryToolClient) };
    process.stdout.write(`${renderToolTable([row], { withFaults: true })}\n`);
    toolRows.push(row);
  }
  const outcomes = [...rows, ...toolRows].flatMap((row) => Object.values<Outcome>(row.outcomes));
  if (outcomes.some((outcome) => typeof outcome !== 'string')) process.exitCode = 1;
  if (options.only !== '') return;
  const page = withTable(await readFile(PAGE, 'utf8'), PLACES.clients, renderTable(rows));
  await writeFile(PAGE, withTable(page, PLACES.toolClients, renderToolTable(toolRows)));
}

/** Tries a client against a daemon of its own. */
async function onGround<C extends Installed, T>(
  client: C,
  tryIt: (client: C, ground: Ground, folder: string) => Promise<T>,
): Promise<T> {
  const ground = await openGround();
  try {
    return await tryIt(client, ground, folderOf(client, options.packages) ?? '');
  } finally {
    await ground.close();
  }
}
