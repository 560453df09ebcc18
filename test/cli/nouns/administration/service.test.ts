// `errand service`: what it writes below a prefix, what it shows, and what it refuses.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, run } from '../../outside.ts';

test('units are written below a prefix, again only when something changes, and removed', async () => {
  const prefix = makeDirectory();
  mkdirSync(path.join(prefix, 'etc/errand'), { recursive: true });
  writeFileSync(path.join(prefix, 'etc/errand/errand.yaml'), 'listen: 0.0.0.0:80\n');
  const units = path.join(prefix, 'etc/systemd/system');
  const shown = await run(['service', 'install', '--prefix', prefix, '--dry-run']);
  expect(shown).toMatchObject({ code: 0, stdout: `write ${units}/errand.socket\nwrite ${units}/errand.service\n` });
  expect(existsSync(units)).toBe(false);
  expect(await run(['service', 'install', '--prefix', prefix, '--user', 'agents'])).toMatchObject({
    code: 0,
    stdout: shown.stdout,
  });
  expect(readFileSync(path.join(units, 'errand.socket'), 'utf8')).toContain('ListenStream=0.0.0.0:80\n');
  expect(readFileSync(path.join(units, 'errand.service'), 'utf8')).toContain('User=agents\n');
  const again = await run(['service', 'install', '--prefix', prefix, '--user', 'agents']);
  expect(again).toMatchObject({ code: 0, stdout: '' });
  expect(again.stderr).toContain('There is nothing to do.');
  expect(await run(['service', 'uninstall', '--prefix', prefix])).toMatchObject({ code: 0 });
  expect(readdirSync(units)).toEqual([]);
});

test.each(['unix:/run/http.sock', 'host.example:80', '127.0.0.1:0'])(
  'the daemon listens itself where systemd cannot: %s',
  async (listen) => {
    const prefix = makeDirectory();
    mkdirSync(path.join(prefix, 'etc/errand'), { recursive: true });
    writeFileSync(path.join(prefix, 'etc/errand/errand.yaml'), `listen: "${listen}"\n`);
    expect((await run(['service', 'install', '--prefix', prefix])).code).toBe(0);
    expect(readdirSync(path.join(prefix, 'etc/systemd/system'))).toEqual(['errand.service']);
  },
);

test('a changed unit is refused with 6 and stays', async () => {
  const prefix = makeDirectory();
  await run(['service', 'install', '--prefix', prefix, '--no-socket']);
  const unit = path.join(prefix, 'etc/systemd/system/errand.service');
  writeFileSync(unit, 'mine');
  const refused = await run(['service', 'install', '--prefix', prefix, '--no-socket']);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain('systemctl edit errand');
  expect(readFileSync(unit, 'utf8')).toBe('mine');
  expect((await run(['service', 'install', '--prefix', prefix, '--no-socket', '--yes'])).code).toBe(0);
  expect(readFileSync(`${unit}.old`, 'utf8')).toBe('mine');
});

test('a wrong configuration, user or place is refused', async () => {
  const prefix = makeDirectory();
  expect((await run(['service', 'install', '--prefix', prefix, '--user', 'a b'])).code).toBe(2);
  mkdirSync(path.join(prefix, 'etc/errand'), { recursive: true });
  writeFileSync(path.join(prefix, 'etc/errand/errand.yaml'), 'listen: nowhere\n');
  const wrong = await run(['service', 'install', '--prefix', prefix]);
  expect(wrong).toMatchObject({ code: 78, stdout: '' });
  expect(wrong.stderr).toContain('errand.yaml:1:');
  for (const executable of ['/home/me/bin/errand', '/opt/my programs/errand']) {
    const hidden = await run(['service', 'install', '--prefix', makeDirectory()], { executable });
    expect(hidden).toMatchObject({ code: 1, stdout: '' });
    expect(hidden.stderr).toContain(`A service can't run ${executable}`);
  }
});
