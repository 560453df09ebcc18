// Promises of the sandbox, kept against the real bubblewrap. Without it these tests are skipped, and say so.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxGrant } from '../../../src/agent/port/grants.ts';
import {
  probeSandbox,
  runInSandbox,
  type SandboxRequest,
  type SandboxSettings,
} from '../../../src/agent/sandbox/sandbox.ts';
import { adviceOn } from '../../../src/agent/sandbox/advice.ts';
import { SANDBOX_OWNER } from '../../../src/agent/sandbox/users.ts';
import { shell } from '../../../src/agent/tools/shell.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { ROOMY } from '../../support/files/space.ts';

const MIB = 1024 * 1024;
const SETTINGS: SandboxSettings = {
  path: '/usr/local/bin:/usr/bin:/bin',
  privateFolders: [],
  timeoutMs: 120_000,
  maxOutputBytes: MIB,
  memoryBytes: 512 * MIB,
  maxProcesses: 64,
};

const probe = await probeSandbox(SETTINGS);
if (!probe.ok) console.warn(`\n*** SKIPPED: every test of the sandbox. ${probe.why} ***\n`);
const grant: SandboxGrant = probe.ok
  ? probe.grant
  : { ...SETTINGS, bwrap: '', owner: null, groups: null, watches: 'limited', space: null };

function run(command: string, changes: Partial<SandboxRequest & { grant: Partial<SandboxGrant> }> = {}) {
  const { grant: limits, ...request } = changes;
  const workspace = request.workspace ?? temporaryDirectory();
  const signal = new AbortController().signal;
  return runInSandbox({ ...grant, ...limits }, { command, signal, ...request, workspace });
}

/** Processes of this machine whose command line holds a word that only the test uses. */
function processesWith(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        Number(pid) !== process.pid &&
        readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word)
      );
    } catch {
      return false;
    }
  });
}

describe.skipIf(!probe.ok)('a command', () => {
  test('gets its output and exit code back, both streams in the order they were written', async () => {
    const result = await run(
      'echo one; echo two >&2; echo three >/dev/stderr; echo four | tee /dev/stderr >/dev/null; exit 3',
    );
    expect(result).toMatchObject({ exitCode: 3, signal: null, output: 'one\ntwo\nthree\nfour\n', bytes: 19 });
    expect(result).not.toHaveProperty('stopped');
  });

  test('that is killed names the signal', async () => {
    expect(await run('kill -SEGV $$')).toMatchObject({ exitCode: null, signal: 'SIGSEGV' });
  });

  test('that is not valid shell fails and says why', async () => {
    const result = await run('if then');
    expect(result.exitCode).toBe(2);
    expect(result.output).toContain('syntax error');
  });

  test('reads the end of its input at once', async () => {
    expect(await run('cat; read line || echo ended')).toMatchObject({ exitCode: 0, output: 'ended\n' });
  });

  test('writes to the workspace, which it finds again with the next command', async () => {
    const workspace = temporaryDirectory();
    expect((await run('mkdir made && echo text > made/file && pwd', { workspace })).output).toBe('/workspace\n');
    expect(readFileSync(join(workspace, 'made/file'), 'utf8')).toBe('text\n');
    expect((await run('cat made/file', { workspace })).output).toBe('text\n');
    if (grant.owner !== null) expect(lstatSync(join(workspace, 'made/file'))).toMatchObject(grant.owner);
  });

  test('works in a workspace beneath closed folders', async () => {
    const closed = temporaryDirectory();
    const workspace = join(closed, 'data', 'workspace with spaces');
    mkdirSync(workspace, { recursive: true, mode: 0o700 });
    chmodSync(closed, 0o700);
    expect(await run('touch made', { workspace })).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(workspace, 'made'))).toBe(true);
  });

  test('writes nowhere else', async () => {
    const places = ['/', '/dev', '/etc', '/usr', '/usr/bin', '/proc', '/bin', '/lib', '/home', '/root', '/var/tmp'];
    const { output } = await run(
      `for place in ${places.join(' ')}; do touch "$place/planted" 2>/dev/null && echo "$place"; done; true`,
    );
    expect(output).toBe('');
  });

  test('has a /tmp of its own that is limited and empty each time', async () => {
    const { output } = await run('ls -A /tmp; head -c 100000000 /dev/zero > /tmp/large; stat -c %s /tmp/large');
    expect(output).toMatch(/No space left on device\n67\d{6}\n$/);
    expect((await run('ls -A /tmp')).output).toBe('');
  });

  test('sees nothing of the host: no secrets, no users, no other folders, no processes, no environment', async () => {
    const beside = temporaryDirectory({ 'workspace-of-another/secret': 'x' });
    const { output } = await run(
      `cat /etc/shadow ${join(beside, 'workspace-of-another/secret')} ${fileURLToPath(import.meta.url)} 2>/dev/null;
       ls /home /root /var /run /sys /mnt 2>/dev/null; grep -c . /etc/passwd; ls /proc | grep -c '^[0-9]'; env | cut -d= -f1 | sort | tr '\\n' ' '`,
    );
    const [users, processes, names] = output.split('\n');
    expect(Number(users)).toBe(2);
    expect(Number(processes)).toBeLessThan(12);
    expect(names).toBe('HOME LANG PATH PWD PYTHONDONTWRITEBYTECODE SHLVL TERM TMPDIR USER XDG_CACHE_HOME _ ');
  });

  test('is readable only in its own sandbox, and finds no paths of the host there', async () => {
    const workspace = temporaryDirectory();
    const skill = temporaryDirectory();
    const word = `unheard-${process.pid}`;
    const running = run(
      `: ${word}; mkfifo go; touch begun; cat /proc/1/cmdline /proc/1/environ | tr '\\0' '\\n'; readlink /proc/1/cwd; read line <go`,
      { workspace, mounts: [{ source: skill, target: '/skills/one' }] },
    );
    await waitFor(() => existsSync(join(workspace, 'begun')));
    expect(processesWith(word)).toEqual([]);
    await writeFile(join(workspace, 'go'), '\n');
    const { output } = await running;
    for (const path of [workspace, skill, process.cwd()]) expect(output).not.toContain(path);
    expect(output).toContain('bwrap');
  });

  test('comes first when memory runs out, which it cannot change, and sees no keys of others', async () => {
    const { output } = await run(
      'for pid in self 1; do echo 0 >/proc/$pid/oom_score_adj; cat /proc/$pid/oom_score_adj /proc/keys; done 2>/dev/null',
    );
    expect(output).toBe('1000\n1000\n');
  });

  test('holds no descriptor but its three', async () => {
    expect((await run('ls /proc/self/fd | wc -l')).output.trim()).toBe('4');
  });

  test('is not root, has no capability, and cannot become more', async () => {
    const { output } = await run(
      'id -u; grep -E "^(Cap|NoNewPrivs)" /proc/self/status; unshare --user true && echo nested',
    );
    expect(output).not.toMatch(/^0$/m);
    expect(output).not.toContain('nested\n');
    expect(output).toContain('NoNewPrivs:\t1');
    for (const [, set] of output.matchAll(/^Cap\w+:\t(\w+)$/gm)) expect(set).toBe('0000000000000000');
  });

  test('can be given links and odd names in its workspace without harm', async () => {
    const workspace = temporaryDirectory();
    const { output } = await run("ln -s /etc/passwd link; cat link | grep -c root; printf x > $'z\\xff'; ls | wc -l", {
      workspace,
    });
    expect(output.split('\n').slice(0, 2)).toEqual(['0', '2']);
  });

  test.each(['000', '500', '600'])('can use its workspace, whatever mode the last one left: mode %s', async (mode) => {
    const workspace = temporaryDirectory();
    await run(`mkdir -p inner/most && touch inner/most/file && chmod 000 inner && chmod ${mode} /workspace`, {
      workspace,
    });
    // As the daemon finds it, too.
    expect(lstatSync(workspace).mode & 0o700).toBe(0o700);
    chmodSync(workspace, Number.parseInt(mode, 8));
    expect(await run('touch made && chmod 700 inner && ls inner/most', { workspace })).toMatchObject({
      exitCode: 0,
      output: 'file\n',
    });
  });

  test('that writes bytes of all kinds yields text that can be stored', async () => {
    const { output, bytes } = await run("head -c 5000 /dev/urandom; printf '\\0\\x1b[31mred\\x1b[0m\\r\\n'");
    expect(bytes).toBe(5000 + 15);
    expect(output.isWellFormed()).toBe(true);
    expect(output).not.toMatch(/[^\P{Cc}\t\n\r]/u);
    expect(output.endsWith('red\n')).toBe(true);
  });

  test('with much output has all of it captured, up to its limit', async () => {
    const { output, bytes } = await run('seq 100000');
    expect(output).toHaveLength(bytes);
    expect(output.startsWith('1\n2\n')).toBe(true);
    expect(output.endsWith('\n50000\n', 288_894)).toBe(true);
    expect(output.endsWith('99999\n100000\n')).toBe(true);
  });
});

describe.skipIf(!probe.ok)('the network', () => {
  let server: Server;
  let touched = 0;
  beforeAll(async () => {
    server = createServer((socket) => {
      touched += 1;
      socket.end('reached');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterAll(() => server.close());

  test('is out of reach, that of the host itself included', async () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const { output } = await run(`cat </dev/tcp/127.0.0.1/${address.port}; grep -vc lo: /proc/net/dev`);
    expect(output).toContain('Connection refused');
    expect(output.trim().endsWith('2')).toBe(true);
    expect(touched).toBe(0);
  });
});

describe.skipIf(!probe.ok)('an end is put to', () => {
  test('a command that runs out of time, with all its children', async () => {
    const word = `31${process.pid}`;
    const result = await run(`echo begun; setsid sleep ${word} & nohup sleep ${word} >/dev/null & sleep ${word}`, {
      timeoutMs: 8_000,
    });
    expect(result).toMatchObject({ exitCode: null, stopped: 'timeout', output: 'begun\n' });
    expect(processesWith(word)).toEqual([]);
  });

  test('what a command leaves running when it ends', async () => {
    const word = `32${process.pid}`;
    const result = await run(`setsid sleep ${word} & setsid nohup sleep ${word} >/dev/null 2>&1 & echo done`);
    expect(result).toMatchObject({ exitCode: 0, output: 'done\n' });
    expect(processesWith(word)).toEqual([]);
  });

  test('a command of a run that is canceled', async () => {
    const workspace = temporaryDirectory();
    const word = `33${process.pid}`;
    const canceling = new AbortController();
    const running = run(`touch begun; trap '' TERM INT HUP; sleep ${word}; sleep ${word}`, {
      workspace,
      signal: canceling.signal,
    });
    await waitFor(() => existsSync(join(workspace, 'begun')));
    canceling.abort();
    expect(await running).toMatchObject({ exitCode: null, stopped: 'canceled' });
    expect(processesWith(word)).toEqual([]);
  });

  test('a command at any moment of its start', async () => {
    const word = `34${process.pid}`;
    for (let delayMs = 0; delayMs < 40; delayMs += 2) {
      const result = await run(`sleep ${word}`, { signal: AbortSignal.timeout(delayMs) });
      expect(result).toMatchObject({ exitCode: null, stopped: 'canceled' });
    }
    expect(processesWith(word)).toEqual([]);
  });

  test('nothing that was canceled before it began', async () => {
    const workspace = temporaryDirectory();
    const result = await run('touch begun', { workspace, signal: AbortSignal.abort() });
    expect(result).toMatchObject({ stopped: 'canceled', output: '' });
    expect(readdirSync(workspace)).toEqual([]);
  });

  test('a flood of output, long before a gigabyte of it', async () => {
    const before = process.memoryUsage().rss;
    const result = await run('yes | head -c 1000000000');
    expect(result).toMatchObject({ exitCode: null, stopped: 'output' });
    expect(result.bytes).toBeGreaterThan(MIB);
    expect(result.bytes).toBeLessThan(4 * MIB);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });

  test('a fork bomb, which does not reach beyond its share', async () => {
    const word = `errand-bomb-${process.pid}`;
    const ending = new AbortController();
    const bomb = run(`echo 'bash bomb $1 & bash bomb $1 & sleep 300; wait' >bomb; bash bomb ${word}`, {
      signal: ending.signal,
    });
    let most = 0;
    const count = () => (most = Math.max(most, processesWith(word).length));
    await waitFor(() => count() > 4);
    const watch = setInterval(count, 100);
    const beside = await run('for i in $(seq 20); do sleep 0.05 & done; wait; echo unharmed');
    ending.abort();
    const result = await bomb;
    clearInterval(watch);
    expect(beside.output).toBe('unharmed\n');
    expect(result).toMatchObject({ exitCode: null, stopped: 'canceled' });
    expect(most).toBeLessThan(grant.maxProcesses + 10);
    expect(processesWith(word)).toEqual([]);
  });

  test('a process that takes too much memory', async () => {
    const result = await run('head -c 2000000000 /dev/zero | tail -c 1900000000 | wc -c');
    expect(result.stopped === 'memory' || result.output.includes('memory exhausted')).toBe(true);
  });

  test('processes that take too much memory together', async () => {
    const hog = 'head -c 100000000 /dev/zero | tail -c 90000000 | (sleep 20; cat) >/dev/null';
    const result = await run(`for i in 1 2 3; do ${hog} & done; wait`, { grant: { memoryBytes: 150_000_000 } });
    expect(result).toMatchObject({ exitCode: null, stopped: 'memory' });
  });

  describe.skipIf(!existsSync('/usr/bin/perl'))('shared memory', () => {
    const [mmap, read] = process.arch === 'x64' ? [9, 0] : [222, 63];
    /** A script of Perl: a mapping that is shared with processes made later, and what fills it. */
    const map = `$size = 80_000_000; $map = syscall(${mmap}, 0, $size, 3, 0x21, -1, 0);
      sub fill { open my $zero, '<', '/dev/zero'; syscall(${read}, fileno $zero, $map, $size) == $size or die $! }`;
    const perl = (script: string) =>
      run(`cat >/tmp/script <<'END'\n${script}\nEND\nfor i in 1 2 3; do perl /tmp/script & done; wait`, {
        grant: { memoryBytes: 200_000_000 },
      });

    test('of processes that take too much together', async () => {
      expect(await perl(`${map} fill(); sleep 60`)).toMatchObject({ exitCode: null, stopped: 'memory' });
    });

    test('only when it is too much, counted once', async () => {
      const forks =
        'fill(); for (1 .. 3) { if (fork() == 0) { fill(); sleep 1; exit } } wait; wait; wait; print "done\\n"';
      // The processes are looked at one after another: while pages become shared, each may still count for some as its own.
      const result = await run(`cat >/tmp/script <<'END'\n${map} ${forks}\nEND\nperl /tmp/script`, {
        grant: { memoryBytes: 250_000_000 },
      });
      expect(result).toMatchObject({ output: 'done\n', exitCode: 0 });
    });
  });

  test('a file that grows without end', async () => {
    const workspace = temporaryDirectory();
    const result = await run('truncate -s 2G file; head -c 10 /dev/zero > small', { workspace });
    expect(result.output).toContain('File size limit exceeded');
    expect(readdirSync(workspace).map((name) => lstatSync(join(workspace, name)).size)).toEqual([0, 10]);
  });

  test('a command whose daemon is killed', async () => {
    const word = `35${process.pid}`;
    const workspace = temporaryDirectory();
    const program = `import { runInSandbox } from ${JSON.stringify(new URL('../../../src/agent/sandbox/sandbox.ts', import.meta.url).href)};
      await runInSandbox(${JSON.stringify(grant)}, { workspace: ${JSON.stringify(workspace)}, command: 'touch begun; setsid sleep ${word} & sleep ${word}', signal: new AbortController().signal });`;
    const daemon: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
    await waitFor(() => existsSync(join(workspace, 'begun')));
    daemon.kill('SIGKILL');
    await waitFor(() => processesWith(`sleep\0${word}`).length === 0);
  });
});

describe.skipIf(!probe.ok)('the shell tool', () => {
  const use = (command: string, input = {}, signal = new AbortController().signal) =>
    shell.execute(
      { command, ...input },
      {
        workspace: temporaryDirectory(),
        workspaceOwner: null,
        space: ROOMY,
        sandbox: grant,
        skills: [],
        egress: [],
        callId: 'call',
        readDocument: async () => null,
        signal,
      },
    );

  test('returns the output and how the command ended', async () => {
    expect(await use('echo hello')).toEqual({
      ok: true,
      output: expect.stringMatching(/^hello\n\[exit code 0, after \d+\.\d s\]$/),
    });
    expect(await use('printf oops; exit 7')).toEqual({
      ok: false,
      output: expect.stringMatching(/^oops\n\[exit code 7, /),
    });
    expect(await use('true')).toEqual({ ok: true, output: expect.stringMatching(/^\[exit code 0, /) });
    expect((await use('kill -KILL $$')).output).toMatch(/^\[killed by SIGKILL, /);
    expect((await use('sleep 20', { timeout_seconds: 1 })).output).toMatch(/^\[stopped: it ran out of time, after /);
    expect((await use('yes')).output).toMatch(/\[stopped: it wrote too much output; /);
  });

  test('refuses commands that no system call could carry', async () => {
    expect(await use('echo \u0000')).toMatchObject({ ok: false });
    expect(await use(`echo ${'x'.repeat(100_000)}`)).toMatchObject({ ok: false });
    expect((await use(`: ${'x'.repeat(99_000)}`)).ok).toBe(true);
  });
});

test('without a sandbox the shell tool runs nothing', async () => {
  const context = {
    workspace: temporaryDirectory(),
    workspaceOwner: null,
    space: ROOMY,
    sandbox: null,
    skills: [],
    egress: [],
    callId: 'call',
    readDocument: async () => null,
    signal: new AbortController().signal,
  };
  const result = await shell.execute({ command: 'touch begun' }, context);
  expect(result).toEqual({ ok: false, output: 'No sandbox is available, so commands cannot be run.' });
  expect(readdirSync(context.workspace)).toEqual([]);
});

test.runIf(process.getuid?.() === 0)('commands are never run as root', async () => {
  await expect(run('id', { grant: { bwrap: '/usr/bin/bwrap', owner: null } })).rejects.toThrow('never run as root');
});

test('a sandbox that cannot be built is an error, not the outcome of a command', async () => {
  const broken = run('true', {
    grant: { bwrap: '/usr/bin/false', owner: process.getuid?.() === 0 ? SANDBOX_OWNER : null },
  });
  await expect(broken).rejects.toThrow('The sandbox could not be built');
});

test.skipIf(!probe.ok)('one for whose pipes there are no descriptors ends nothing else', async () => {
  const main = fileURLToPath(new URL('../../support/agent/few-descriptors-main.ts', import.meta.url));
  const words = ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, main, temporaryDirectory()];
  const { stdout } = await promisify(execFile)('/bin/sh', words);
  expect(JSON.parse(stdout)).toEqual({ said: 'The sandbox could not be started: too many files are open.' });
});

describe('the probe', () => {
  test('says what to install when bubblewrap is missing', async () => {
    const found = await probeSandbox({ ...SETTINGS, path: temporaryDirectory() });
    expect(found).toEqual({
      ok: false,
      why: 'bubblewrap is not installed (Debian: apt-get install -y bubblewrap).',
      mend: 'apt-get install -y bubblewrap',
    });
  });

  const machine = (isFiltered: boolean, settings: Readonly<Record<string, number>> = {}) => ({
    isFiltered,
    setting: (name: string) => settings[name] ?? null,
  });

  test.each([
    ['bwrap: Unknown option --disable-userns', 'bubblewrap is too old'],
    [
      'bwrap: Creating new namespace failed: Resource temporarily unavailable',
      'the kernel provides no user namespaces',
    ],
    ['bwrap: prctl(PR_SET_SECCOMP): Operation not permitted', 'the kernel filters no system calls'],
    ["bwrap: Can't set hostname to sandbox: Operation not permitted", 'forbids sethostname'],
    ['bwrap: cannot open /proc/sys/user/max_user_namespaces: Read-only file system', '/proc/sys is read-only'],
    ['bwrap: setting up uid map: Permission denied', 'the system forbids namespaces'],
    ['something unheard of', 'something unheard of'],
  ])('turns %j into advice', (complaint, advice) => {
    const { why } = adviceOn(complaint, machine(false));
    expect(why).toContain(advice);
    expect(why).toContain(complaint);
  });

  test('names the filter that the daemon is under, not AppArmor alone', () => {
    const complaint = 'bwrap: Failed to mount tmpfs: Operation not permitted';
    expect(adviceOn(complaint, machine(true)).why).toContain('compare SystemCallFilter=');
    expect(adviceOn(complaint, machine(false)).why).not.toContain('SystemCallFilter=');
  });

  test.each([
    ["bwrap: Can't open source /usr: Function not implemented", true, {}, /printf .*RestrictSUIDSGID=no/],
    ["bwrap: Can't open source /usr: Function not implemented", false, {}, null],
    ['bwrap: Unknown option --disable-userns', false, {}, /^apt-get update && apt-get install -y bubblewrap$/],
    [
      'bwrap: Creating new namespace failed',
      true,
      { 'user.max_user_namespaces': 0 },
      /sysctl -w user\.max_user_namespaces=15000$/,
    ],
    ['bwrap: Creating new namespace failed', true, { 'user.max_user_namespaces': 9 }, null],
    [
      'bwrap: setting up uid map: Permission denied',
      false,
      { 'kernel.unprivileged_userns_clone': 0 },
      /userns_clone=1$/,
    ],
    [
      'bwrap: setting up uid map: Permission denied',
      true,
      { 'kernel.apparmor_restrict_unprivileged_userns': 1 },
      /apparmor_parser -r/,
    ],
    ['something unheard of', false, {}, null],
  ])('mends what causes %j (filtered: %s, %j)', (complaint, isFiltered, settings, command) => {
    const { mend } = adviceOn(complaint, machine(isFiltered, settings));
    if (command === null) expect(mend).toBeNull();
    else expect(mend).toMatch(command);
  });

  test('refuses to share the daemon\u2019s own folders with commands', async () => {
    const bin = temporaryDirectory({ bwrap: '' });
    chmodSync(join(bin, 'bwrap'), 0o755);
    const found = await probeSandbox({ ...SETTINGS, path: bin, privateFolders: ['/srv', '/usr/share'] });
    expect(found).toEqual({
      ok: false,
      why: '/usr/share is in /usr, which commands can read; move it elsewhere.',
      mend: null,
    });
  });
});
