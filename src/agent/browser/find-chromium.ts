// Finds a Chromium that starts inside the sandbox.
import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import type { SandboxGrant } from '../port/grants.ts';
import { runInSandbox } from '../sandbox/sandbox.ts';
import { placed } from './start-chromium.ts';
import { makeTemporaryFolder } from '../../disk/temporary-folder.ts';
import { removeTree } from '../../disk/remove-beneath.ts';

export type BrowserProbe =
  | { readonly ok: true; readonly executable: string; readonly version: string }
  | { readonly ok: false; readonly why: string };

/** Where distributions install the binary itself. The one in /usr/bin is a wrapper script for desktops. */
const PLACES = [
  '/usr/lib/chromium/chromium',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/usr/lib/chromium-browser/chromium-browser',
  '/opt/google/chrome/chrome',
  '/opt/chromium.org/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const PROBE_TIMEOUT_MS = 20_000;
const INSTALL = 'no Chromium was found (Debian: apt-get install chromium).';
const NEEDS_SANDBOX = 'it has no sandbox to run in.';

/** Finds the binary, the configured one or the first that exists, and runs it in the sandbox for its version. */
export async function findChromium(sandbox: SandboxGrant | null, named: string): Promise<BrowserProbe> {
  if (sandbox === null) return { ok: false, why: NEEDS_SANDBOX };
  const found = named === '' ? await firstProgram(PLACES) : named;
  if (found === undefined) return { ok: false, why: INSTALL };
  if (named !== '') {
    const why = await whyNot(named);
    if (why !== null) return { ok: false, why };
  }
  const workspace = await makeTemporaryFolder('probe');
  try {
    const { path, mounts } = placed(found, '/chromium');
    const command = `'${path.replaceAll("'", `'\\''`)}' --version`;
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const { exitCode, output } = await runInSandbox(sandbox, { workspace, command, mounts, signal });
    if (exitCode === 0) return { ok: true, executable: found, version: output.trim() };
    return { ok: false, why: `${found} did not start in the sandbox: ${output.trim().slice(-300)}` };
  } catch (error) {
    return { ok: false, why: `${found} did not start in the sandbox: ${String(error)}` };
  } finally {
    await removeTree(workspace);
  }
}

async function firstProgram(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) if ((await whyNot(place)) === null) return place;
  return undefined;
}

/** Why a file can't be the binary; null when it can. */
async function whyNot(path: string): Promise<string | null> {
  try {
    await access(path, constants.X_OK);
    await using file = await open(path, 'r');
    const { buffer } = await file.read({ buffer: Buffer.alloc(2), position: 0 });
    if (buffer.toString('latin1') !== '#!') return null;
    return `${path} is a script that starts a browser; name the program itself, such as ${PLACES[0]}.`;
  } catch {
    return `${path} is not a program that the daemon can start.`;
  }
}
