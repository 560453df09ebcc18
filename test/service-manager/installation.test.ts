// Installing and removing the service: the steps, each only where it is needed, and units that someone has changed.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Installation, planInstallation, planRemoval } from '../../src/service-manager/installation.ts';
import type { Machine } from '../../src/service-manager/machine.ts';
import { renderUnits } from '../../src/service-manager/units.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

/** A machine on which `useradd` and `systemctl` have their effects. */
function fakeMachine() {
  const users = new Set<string>();
  const [enabled, active] = [new Set<string>(), new Set<string>()];
  const effects: Record<string, (names: readonly string[]) => boolean> = {
    'is-enabled': ([name = '']) => enabled.has(name),
    'is-active': ([name = '']) => active.has(name),
    enable: (names) => names.every((name) => enabled.add(name)),
    start: (names) => names.every((name) => active.add(name)),
    restart: (names) => names.every((name) => active.add(name)),
    stop: (names) => names.every((name) => active.delete(name) || true),
    disable: (names) => names.every((name) => [enabled.delete(name), active.delete(name)]),
    'daemon-reload': () => true,
  };
  const machine: Machine = {
    isRoot: () => true,
    hasSystemd: () => true,
    run: (program, ...args) => {
      if (args.includes('--now') && args[0] === 'enable') active.add(args.at(-1)!);
      const last = args.at(-1) ?? '';
      const names = args.slice(1).filter((name) => name.startsWith('errand.'));
      const done =
        program === 'id'
          ? users.has(last)
          : program === 'useradd'
            ? users.add(last) !== undefined
            : effects[args[0] ?? '']!(names);
      return Promise.resolve({ code: done ? 0 : 1, output: program === 'id' && done ? last : '' });
    },
  };
  return { machine, users, enabled, active };
}

function open() {
  const root = temporaryDirectory();
  const { machine, ...facts } = fakeMachine();
  const given: Installation = {
    root,
    machine,
    replaces: false,
    executable: '/usr/local/bin/errand',
    user: 'errand',
    listen: '127.0.0.1:8484',
  };
  const unit = (name: string) => path.join(root, 'etc/systemd/system', name);
  const install = async (over: Partial<Installation> = {}): Promise<string[]> => {
    const steps = await planInstallation({ ...given, ...over });
    for (const step of steps) await step.perform();
    return steps.map(({ line }) => line.replaceAll(root, ''));
  };
  const remove = async (replaces = false): Promise<string[]> => {
    const steps = await planRemoval({ root, machine, replaces });
    for (const step of steps) await step.perform();
    return steps.map(({ line }) => line.replaceAll(root, ''));
  };
  return { root, given, unit, install, remove, ...facts };
}

test('an installation adds user, directory and units, and starts the service; a second has nothing to do', async () => {
  const { install, unit, users, active } = open();
  expect(await install()).toEqual([
    'useradd --system --user-group --home-dir /var/lib/errand --no-create-home --shell /usr/sbin/nologin errand',
    'mkdir /etc/errand',
    'write /etc/systemd/system/errand.socket',
    'write /etc/systemd/system/errand.service',
    'systemctl daemon-reload',
    'systemctl enable errand.socket errand.service',
    'systemctl start errand.socket errand.service',
  ]);
  expect([...users, ...active]).toEqual(['errand', 'errand.socket', 'errand.service']);
  expect(readFileSync(unit('errand.service'), 'utf8')).toMatch(
    /^ExecStart=(?:.*\\\n)*  \/usr\/local\/bin\/errand serve$/m,
  );
  expect(readFileSync(unit('errand.socket'), 'utf8')).toMatch(/^ListenStream=127\.0\.0\.1:8484$/m);
  expect(await install()).toEqual([]);
});

test('another program restarts the service; another address replaces its socket while it is stopped', async () => {
  const { install, given, unit } = open();
  await install();
  const moved = { executable: '/opt/errand', user: given.user };
  expect(await install(moved)).toEqual([
    'write /etc/systemd/system/errand.service',
    'systemctl daemon-reload',
    'systemctl restart errand.service',
  ]);
  expect(readFileSync(unit('errand.service'), 'utf8')).not.toContain('/usr/bin/errand');
  expect(await install({ ...moved, listen: '[::]:80' })).toEqual([
    'write /etc/systemd/system/errand.socket',
    'systemctl daemon-reload',
    'systemctl stop errand.socket errand.service',
    'systemctl start errand.socket errand.service',
  ]);
});

test('a socket that is no longer wanted is removed', async () => {
  const { install, unit, active } = open();
  await install();
  expect(await install({ listen: null })).toEqual([
    'systemctl disable --now errand.socket',
    'remove /etc/systemd/system/errand.socket',
    'systemctl daemon-reload',
    'systemctl stop errand.service',
    'systemctl start errand.service',
  ]);
  expect(existsSync(unit('errand.socket'))).toBe(false);
  expect([...active]).toEqual(['errand.service']);
});

test('a unit that was changed, or written by hand, is refused, and kept when it is replaced', async () => {
  const { install, remove, unit } = open();
  await install();
  appendFileSync(unit('errand.service'), '# mine\n');
  writeFileSync(unit('errand.socket'), '[Socket]\nListenStream=1\n');
  const refusal = { reason: 'conflict', message: expect.stringContaining('errand.socket and ') as string };
  await expect(install()).rejects.toMatchObject(refusal);
  await expect(remove()).rejects.toMatchObject(refusal);
  expect(readFileSync(unit('errand.service'), 'utf8')).toContain('# mine\n');
  expect(await install({ replaces: true })).toContain('write /etc/systemd/system/errand.service');
  expect(readFileSync(`${unit('errand.service')}.old`, 'utf8')).toContain('# mine\n');
  expect(await install()).toEqual([]);
});

test('a removal leaves everything but the units; a second has nothing to do', async () => {
  const { root, install, remove, users, enabled, active } = open();
  await install();
  expect(await remove()).toEqual([
    'systemctl disable --now errand.socket',
    'remove /etc/systemd/system/errand.socket',
    'systemctl disable --now errand.service',
    'remove /etc/systemd/system/errand.service',
    'systemctl daemon-reload',
  ]);
  expect([...enabled, ...active]).toEqual([]);
  expect(existsSync(path.join(root, 'etc/errand'))).toBe(true);
  expect([...users]).toEqual(['errand']);
  expect(await remove()).toEqual([]);
});

test('where a package has the service, no unit hides its own', async () => {
  const { root, install } = open();
  mkdirSync(path.join(root, 'usr/lib/systemd/system'), { recursive: true });
  writeFileSync(path.join(root, 'usr/lib/systemd/system/errand.service'), '');
  const refusal = {
    reason: 'conflict',
    message: expect.stringMatching(/^A package has installed the service: /) as string,
  };
  await expect(install()).rejects.toMatchObject(refusal);
  await expect(install({ machine: null, replaces: true })).rejects.toMatchObject(refusal);
});

test('after a removal the package’s units take over as they were enabled', async () => {
  const { root, install, remove, enabled, active } = open();
  await install();
  enabled.delete('errand.socket');
  mkdirSync(path.join(root, 'usr/lib/systemd/system'), { recursive: true });
  for (const name of ['errand.socket', 'errand.service'])
    writeFileSync(path.join(root, 'usr/lib/systemd/system', name), '');
  expect((await remove()).slice(-2)).toEqual(['systemctl daemon-reload', 'systemctl enable --now errand.service']);
  expect([[...enabled], [...active]]).toEqual([['errand.service'], ['errand.service']]);
});

test('a new installation has the address in its unit, and in no drop-in', async () => {
  const { root, install } = open();
  await install();
  const dropIn = path.join(root, 'etc/systemd/system/errand.socket.d/listen.conf');
  mkdirSync(path.dirname(dropIn));
  writeFileSync(dropIn, '[Socket]\nListenStream=1\n');
  expect(await install()).toEqual([
    'remove /etc/systemd/system/errand.socket.d/listen.conf',
    'systemctl daemon-reload',
    'systemctl stop errand.socket errand.service',
    'systemctl start errand.socket errand.service',
  ]);
});

test('without a machine only files are written', async () => {
  const { install, unit } = open();
  expect(await install({ machine: null, user: 'agents' })).toEqual([
    'mkdir /etc/errand',
    'write /etc/systemd/system/errand.socket',
    'write /etc/systemd/system/errand.service',
  ]);
  expect(readFileSync(unit('errand.service'), 'utf8')).toMatch(/^User=agents\nGroup=agents$/m);
});

test('a program that fails ends the installation with its words', async () => {
  const { install, given } = open();
  const machine: Machine = {
    ...given.machine!,
    run: () => Promise.resolve({ code: 1, output: 'useradd: the file is locked' }),
  };
  await expect(install({ machine })).rejects.toThrow(/^useradd .* failed: useradd: the file is locked$/);
});

test('no unit hides a system call that bubblewrap needs', () => {
  const [, service] = renderUnits({
    executable: '/usr/bin/errand',
    user: 'errand',
    group: 'errand',
    listen: '127.0.0.1:8484',
  });
  // Its filter answers openat2 with ENOSYS, and bubblewrap 0.12 opens every path by it.
  expect(service?.text).not.toMatch(/^RestrictSUIDSGID=/m);
});
