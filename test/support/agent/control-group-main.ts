// A process that has a control group to itself, as a service of systemd has: what sandboxes do in it, as a line of JSON.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeSandbox, runInSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { startInSandbox } from '../../../src/agent/sandbox/service.ts';

const MIB = 1024 * 1024;
const LIMITS = { timeoutMs: 60_000, maxOutputBytes: MIB, memoryBytes: 150 * MIB, maxProcesses: 24 };
const [mmap, read, madvise] = process.arch === 'x64' ? [9, 0, 28] : [222, 63, 233];
/** Fills three mappings, each of which is forgotten by the process but not by the kernel: no look at the process shows it. */
const HIDING = `for (1 .. 3) { $size = 80_000_000; $map = syscall(${mmap}, 0, $size, 3, 0x21, -1, 0);
  open my $zero, '<', '/dev/zero'; syscall(${read}, fileno $zero, $map, $size); syscall(${madvise}, $map, $size, 4); }
  print "unnoticed\\n"`;

const found = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!found.ok) throw new Error(found.why);
const { grant } = found;
const workspace = mkdtempSync(join(tmpdir(), 'errand-groups-'));
process.once('exit', () => rmSync(workspace, { recursive: true, force: true }));
mkdirSync(workspace, { recursive: true });
const run = (command: string) => runInSandbox(grant, { workspace, command, signal: new AbortController().signal });

const plain = await run('echo done; cat /proc/self/cgroup');
const hiding = await run(`perl -e '${HIDING.replaceAll("'", `'\\''`)}'`);
const many = await run('for i in $(seq 100); do sleep 2 & done; wait');
const service = await startInSandbox(grant, {
  workspace,
  argv: [
    '/bin/sh',
    '-c',
    HIDING.replace(/^/, "exec perl -e '").replaceAll("'/dev/zero'", '"/dev/zero"').replaceAll("'<'", '"<"') + "'",
  ],
  env: {},
  network: false,
  mounts: [],
});
service.stdout.resume();
const ended = await service.ended;
console.log(
  JSON.stringify({
    groups: grant.groups,
    own: readFileSync('/proc/self/cgroup', 'utf8').trim(),
    plain,
    hiding,
    many,
    ended,
    left: grant.groups === null ? [] : readdirSync(grant.groups).filter((name) => name.startsWith('sandbox-')),
  }),
);
