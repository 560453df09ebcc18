// Starts a sandbox with fewer descriptors than its pipes take, and says what becomes of it, and of this process.
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../src/domain/errors.ts';
import { probeSandbox, runInSandbox } from '../../../src/agent/sandbox/sandbox.ts';

/** Enough for what comes before the pipes. */
const FREE = 6;

const [workspace = ''] = process.argv.slice(2);
const limits = { timeoutMs: 60_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 29, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...limits });
if (!probe.ok) throw new Error(probe.why);
const held: number[] = [];
try {
  for (;;) held.push(openSync('/dev/null', 'r'));
} catch {
  // All are taken.
}
const freed = held.splice(-FREE);
freed.forEach((fd) => closeSync(fd));
const signal = new AbortController().signal;
const said = await runInSandbox(probe.grant, { workspace, command: 'true', signal }).catch(messageOf);
held.forEach((fd) => closeSync(fd));
// An error that nobody listens to comes a moment later.
await sleep(100);
process.stdout.write(JSON.stringify({ said }));
