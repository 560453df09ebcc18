// Finding the installed service by its unit: a package's, an administrator's own, and what drop-ins change.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findInstalled } from '../../src/service-manager/installed.ts';
import { renderUnits } from '../../src/service-manager/units.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const PACKAGED = 'usr/lib/systemd/system';
const OWN = 'etc/systemd/system';
const [SERVICE = ''] = renderUnits({
  executable: '/usr/bin/errand',
  user: 'errand',
  group: 'errand',
  listen: null,
}).map(({ text }) => text);

function machine(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

test('a machine without a unit has no service', () => {
  expect(findInstalled(machine({}))).toBeNull();
});

test.each([PACKAGED, OWN])('the unit in %s names directories and user', (directory) => {
  const root = machine({ [`${directory}/errand.service`]: SERVICE });
  expect(findInstalled(root)).toEqual({
    dataDir: path.join(root, 'var/lib/errand'),
    configDir: path.join(root, 'etc/errand'),
    runtimeDir: path.join(root, 'run/errand'),
    user: 'errand',
    masterKeyFile: null,
    unit: path.join(root, directory, 'errand.service'),
    hasSocket: false,
  });
});

test('drop-ins change them, each name once, the administrator’s first', () => {
  const root = machine({
    [`${PACKAGED}/errand.service`]: SERVICE,
    [`${PACKAGED}/errand.socket`]: '',
    [`${PACKAGED}/errand.service.d/package.conf`]: '[Service]\nUser=nobody\n',
    [`${OWN}/errand.service.d/package.conf`]: '[Service]\nUser=agents\n',
    [`${OWN}/errand.service.d/a.conf`]:
      '[Service]\nEnvironment="ERRAND_DATA_DIR=/srv/errand" X=1\nStateDirectory=\nStateDirectory=agents more\n' +
      'LoadCredential=master-key:/root/keys/master.key\n[Unit]\nUser=root\n',
  });
  expect(findInstalled(root)).toMatchObject({
    dataDir: '/srv/errand',
    configDir: path.join(root, 'etc/errand'),
    user: 'agents',
    masterKeyFile: '/root/keys/master.key',
    hasSocket: true,
  });
});

test('a masked unit hides no installation', () => {
  const root = machine({ [`${PACKAGED}/errand.service`]: SERVICE });
  mkdirSync(path.join(root, OWN), { recursive: true });
  symlinkSync('/dev/null', path.join(root, OWN, 'errand.service'));
  expect(findInstalled(root)?.unit).toBe(path.join(root, PACKAGED, 'errand.service'));
});
