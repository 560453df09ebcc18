// What settings write into drop-ins of the installed units.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { planUnits, type UnitChanges } from '../../src/service-manager/drop-ins.ts';
import { findInstalled } from '../../src/service-manager/installed.ts';
import type { Machine } from '../../src/service-manager/machine.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

function open({ isSocketUsed = true } = {}) {
  const root = temporaryDirectory();
  const units = path.join(root, 'usr/lib/systemd/system');
  mkdirSync(units, { recursive: true });
  for (const name of ['errand.service', 'errand.socket'])
    writeFileSync(path.join(units, name), '[Service]\nUser=errand\n');
  const machine: Machine = {
    isRoot: () => true,
    hasSystemd: () => true,
    run: async (_program, verb = '') => ({ code: verb.startsWith('is-') && !isSocketUsed ? 1 : 0, output: '61900' }),
  };
  const text = (name: string) => readFileSync(path.join(root, 'etc/systemd/system', name), 'utf8');
  const plan = async (requests: UnitChanges, on: Machine | null = machine) => {
    const { steps, restart } = await planUnits(findInstalled(root)!, requests, { root, machine: on });
    for (const step of steps) await step.perform();
    return [...steps.map(({ line }) => line.replaceAll(root, '')), restart];
  };
  return { root, text, plan };
}

test('a directory of backups is made, and the service may write to it; a second time there is nothing to do', async () => {
  const { root, text, plan } = open();
  const directory = path.join(root, 'my "backups"');
  expect(await plan({ directory })).toEqual([
    'install -d -o errand -m 0700 /my "backups"',
    'write /etc/systemd/system/errand.service.d/backup-directory.conf',
    'systemctl daemon-reload',
    'systemctl restart errand',
  ]);
  // With "-", a missing directory keeps no service from starting.
  expect(text('errand.service.d/backup-directory.conf')).toContain(
    `[Service]\nReadWritePaths="-${root}/my \\"backups\\""\n`,
  );
  mkdirSync(directory);
  writeFileSync(path.join(directory, 'of-another'), '');
  expect(await plan({ directory })).toEqual([null]);
  expect((await plan({ directory: null }))[0]).toBe(
    'remove /etc/systemd/system/errand.service.d/backup-directory.conf',
  );
});

test('an address goes to the socket where systemd listens, and nowhere else', async () => {
  const { text, plan } = open();
  expect(await plan({ listen: '0.0.0.0:8443' })).toEqual([
    'write /etc/systemd/system/errand.socket.d/listen.conf',
    'systemctl daemon-reload',
    'systemctl stop errand.socket errand.service && systemctl start errand.socket errand.service',
  ]);
  expect(text('errand.socket.d/listen.conf')).toContain('[Socket]\nListenStream=\nListenStream=0.0.0.0:8443\n');
  expect(await open({ isSocketUsed: false }).plan({ listen: '0.0.0.0:8443' })).toEqual([null]);
});

test('without systemd only files are written', async () => {
  const { plan } = open();
  expect(await plan({ directory: '/nowhere', listen: '0.0.0.0:1' }, null)).toEqual([
    'write /etc/systemd/system/errand.service.d/backup-directory.conf',
    'systemctl restart errand',
  ]);
});
