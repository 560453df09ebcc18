// The daemon under a service manager: reports readiness on a real socket, reloads on SIGHUP, uses the manager's directories.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { waitFor } from '../../support/time/wait-for.ts';

function makeDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'errand-service-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A service manager's end of the socket: writes each message to a file, and hangs up the barrier that comes with it. */
const MANAGER = `
import array, os, socket, sys
door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
door.bind(sys.argv[1])
with open(sys.argv[2], 'ab', buffering=0) as said:
    said.write(b'bound\\n')
    while True:
        data, control, _, _ = door.recvmsg(4096, 256)
        for level, kind, body in control:
            for descriptor in array.array('i', body):
                os.close(descriptor)
        said.write(data + b'\\n')
`;

async function startManager(): Promise<{ readonly socket: string; readonly said: () => string }> {
  const directory = makeDirectory();
  const [socket, file] = [path.join(directory, 'notify'), path.join(directory, 'said')];
  const manager: ChildProcess = spawn('python3', ['-c', MANAGER, socket, file], { stdio: 'ignore' });
  onTestFinished(() => void manager.kill('SIGKILL'));
  const said = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await waitFor(() => said().includes('bound'));
  return { socket, said };
}

test('a service manager is notified when the daemon listens', {
  skip: !has('systemd-notify') || !has('python3'),
}, async () => {
  const { socket, said } = await startManager();
  const daemon = await startDaemonProcess({ env: { NOTIFY_SOCKET: socket } });
  onTestFinished(daemon.close);
  await waitFor(() => said().includes('READY=1'));
  expect(said()).toContain(`STATUS=Listening on ${daemon.url}; 0 runs in progress`);
  expect(daemon.stderr()).not.toContain('could not be notified');
  process.kill(daemon.pid(), 'SIGHUP');
  await waitFor(() => /RELOADING=1\nMONOTONIC_USEC=\d+[^]*READY=1/.test(said()));
  await daemon.stop();
  await waitFor(() => /STOPPING=1\nSTATUS=Stopping: .*\nEXTEND_TIMEOUT_USEC=60000000/.test(said()));
});

/** Holds a listening socket as systemd does, passes it to a daemon, and starts the next when one has ended. */
const SOCKET_HOLDER = `
import os, socket, sys
holder = socket.socket()
holder.bind(('127.0.0.77', 0))
holder.listen(64)
os.dup2(holder.fileno(), 3)
os.set_inheritable(3, True)
print('port', holder.getsockname()[1], flush=True)
while True:
    pid = os.fork()
    if pid == 0:
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1', LISTEN_FDNAMES='http')
        os.execv(sys.argv[1], [sys.argv[1], 'serve', '--data-dir', sys.argv[2]])
    print('daemon', pid, flush=True)
    os.waitpid(pid, 0)
`;

test('a daemon takes the socket that it is given, and leaves connections in it to the next when it stops', {
  skip: !has('python3'),
}, async () => {
  const binary = fileURLToPath(new URL('../../../bin/errand', import.meta.url));
  const holder = spawn('python3', ['-c', SOCKET_HOLDER, binary, makeDirectory()], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [holder.stdout, holder.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => void (said += text));
  }
  const daemons = () => [...said.matchAll(/^daemon (\d+)$/gm)].map(([, pid]) => Number(pid));
  onTestFinished(() => {
    holder.kill('SIGKILL');
    process.kill(daemons().at(-1)!, 'SIGKILL');
  });
  const port = await waitFor(() => /^port (\d+)$/m.exec(said)?.[1]);
  // Each on a connection of its own: one that is kept leads to the daemon that stops.
  const health = async () =>
    (await fetch(`http://127.0.0.77:${port}/healthz`, { headers: { connection: 'close' } })).status;
  // It waits in the socket until the daemon has started.
  expect(await health()).toBe(200);
  await waitFor(() => said.includes('the sockets of systemd are used, not the setting listen'));
  process.kill(daemons()[0]!, 'SIGTERM');
  await waitFor(() => said.includes('"msg":"draining"'));
  expect(await health()).toBe(200);
  await waitFor(() => daemons().length > 1);
  expect(daemons()).toHaveLength(2);
  expect(said.match(/"msg":"stopped"/g)).toHaveLength(1);
});

test('SIGHUP takes the configuration up and ends nothing; SIGTERM still drains to code 0', async () => {
  const daemon = await startDaemonProcess();
  onTestFinished(daemon.close);
  process.kill(daemon.pid(), 'SIGHUP');
  await waitFor(() => daemon.stderr().includes('reloading the configuration'));
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

test('config check and show know the directory, variables and credentials of the running daemon', async () => {
  const [configDir, credentials] = [makeDirectory(), makeDirectory()];
  writeFileSync(path.join(credentials, 'far'), 'key-1\n');
  const models = [
    'endpoints: { far: { kind: openai, base_url: "http://127.0.0.1:9/v1", api_key_file: "credential:far" } }',
    'models: { large: { endpoint: far, model: large-1 } }',
    'scenarios: { general: { model: large } }',
  ].join('\n');
  writeFileSync(path.join(configDir, 'models.yaml'), models);
  const env = {
    CREDENTIALS_DIRECTORY: credentials,
    ERRAND_CONFIG_DIR: configDir,
    ERRAND_WAIT_TIMEOUT_SECONDS: '77',
  };
  const daemon = await startDaemonProcess({ env });
  onTestFinished(daemon.close);
  const place = ['--data-dir', daemon.dataDir];
  const checked = await runErrand(['config', 'check', ...place]);
  expect(checked).toEqual({ stdout: `The configuration in ${configDir} is valid.\n`, stderr: '' });
  // As an upgrade does it, whose new program reads them beside the old daemon.
  const read = await runErrand(['config', 'check', '--files', '-o', 'json', ...place, '--config-dir', configDir]);
  expect(JSON.parse(read.stdout)).toMatchObject({
    ok: true,
    source: 'files',
    unresolved_credentials: ['credential:far'],
  });
  const shown = await runErrand(['config', 'show', '--origin', ...place]);
  expect(shown.stdout).toContain('wait_timeout_seconds\t77\tenvironment\tERRAND_WAIT_TIMEOUT_SECONDS\n');

  writeFileSync(path.join(configDir, 'models.yaml'), `${models}\nbroken: true\n`);
  await expect(runErrand(['config', 'check', ...place])).rejects.toMatchObject({
    code: 78,
    stdout: 'models.yaml:4:1 broken: is not a known key\n',
  });

  rmSync(configDir, { recursive: true });
  await expect(runErrand(['config', 'check', ...place])).rejects.toMatchObject({
    code: 78,
    stdout: `${configDir}: the directory does not exist\n`,
  });
  mkdirSync(configDir);
});

test('status --wait returns when a daemon that is being started is ready', async () => {
  const daemon = await startDaemonProcess();
  onTestFinished(daemon.close);
  await daemon.kill();
  const waiting = runErrand(['status', '--wait', '--timeout', '60s', '-o', 'json', '--data-dir', daemon.dataDir]);
  await daemon.restart();
  expect(JSON.parse((await waiting).stdout)).toMatchObject({ ready: true, pid: daemon.pid() });
});

test('the unit that comes with Errand lets the sandbox be built, and is notified when the daemon is ready', () => {
  const unit = readFileSync(new URL('../../../config/errand.service', import.meta.url), 'utf8');
  const valuesOf = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1]?.split(' ');
  expect(valuesOf('SystemCallFilter')).toEqual(expect.arrayContaining(['@mount', 'sethostname']));
  expect([valuesOf('Type'), valuesOf('NotifyAccess')]).toEqual([['notify'], ['all']]);
});
