// A process that is root, if only that of a user namespace: what a command of one user does to its workspace, as a line of JSON.
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { probeSandbox, runInSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { ownerFor } from '../../../src/agent/sandbox/users.ts';

const LIMITS = { timeoutMs: 30_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 29, maxProcesses: 64 };
const found = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!found.ok) throw new Error(found.why);
const { grant } = found;
const workspace = join(process.cwd(), 'workspace');
mkdirSync(workspace);
const { output } = await runInSandbox(
  { ...grant, owner: ownerFor(grant.owner, 4) },
  {
    workspace,
    command: 'id -u; umask 077; mkdir a; echo x >a/b; chmod 0 a /workspace',
    signal: new AbortController().signal,
  },
);
const { uid } = lstatSync(workspace);
rmSync(workspace, { recursive: true });
console.log(JSON.stringify({ output, uid, watches: grant.watches }));
