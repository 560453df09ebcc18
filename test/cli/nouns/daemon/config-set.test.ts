import { expect, test } from 'vitest';
import { refusalOf } from '../../../../src/cli/nouns/daemon/config-set.ts';
import { run } from '../../outside.ts';

const FILE = '/etc/errand/errand.yaml';
const asRoot = 'sudo errand --config-dir /etc/errand config set log.level debug';
const failureOf = (code: string) => Object.assign(new Error(`${code}: open '${FILE}'`), { code });

test('a user who can’t change the file gets the command that can', () => {
  for (const code of ['EACCES', 'EPERM'])
    expect(refusalOf(failureOf(code), { file: FILE, asRoot, user: 'errand' })).toMatchObject({
      exit: 'failure',
      message: `The user errand can't change ${FILE}.`,
      hint: `Change it as root: ${asRoot}`,
    });
});

test('what root can’t do, and what is no matter of rights, is said as it is', () => {
  for (const [code, user] of [
    ['EACCES', 'root'],
    ['EROFS', 'errand'],
    ['ENOSPC', 'errand'],
  ] as const) {
    const { message, hint } = refusalOf(failureOf(code), { file: FILE, asRoot, user });
    expect([message, hint]).toEqual([`${FILE} can't be changed: ${code}: open '${FILE}'`, undefined]);
  }
});

test('a file that can’t be made is named', async () => {
  const ended = await run(['config', 'set', 'log.level', 'debug', '--config-dir', '/proc/errand']);
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.stderr).toContain("/proc/errand/errand.yaml can't be changed: ");
});
