// Who gets what root restores.
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { openSource } from '../../src/backups/source.ts';
import { ownerOf } from '../../src/cli/nouns/backups/owner.ts';
import { installation, take } from '../support/backups/installation.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)('the data belongs to the user of the service, and it can read the configuration', async () => {
  const fixture = await installation();
  await fixture.addSession('some text');
  fixture.put(join(fixture.configDir, 'errand.yaml'), 'listen: 127.0.0.1:1\n');
  fixture.put(join(fixture.configDir, 'model.key'), 'secret');
  chmodSync(join(fixture.configDir, 'model.key'), 0o600);
  const outside = temporaryDirectory({ 'certificate.pem': 'x' });
  symlinkSync(outside, join(fixture.configDir, 'certificates'));
  const manifest = await take(fixture.task());
  const target = temporaryDirectory();
  const [dataDir, configDir] = [join(target, 'data'), join(target, 'config')];
  const service = { uid: 61_234, gid: 61_235 };
  const source = openSource(fixture.repository);
  const rest = {
    masterKey: Buffer.alloc(32),
    paused: true,
    rowsTo: null,
    onRows: () => undefined,
    onProgress: () => undefined,
    owner: null,
  };
  await restore({ source, manifest, dataDir, configDir, service, ...rest, signal: new AbortController().signal });
  expect(statSync(join(outside, 'certificate.pem')).gid).not.toBe(service.gid);
  const paths = [dataDir, ...readdirSync(dataDir, { recursive: true }).map((name) => join(dataDir, String(name)))];
  expect(paths.length).toBeGreaterThan(7);
  for (const path of paths) {
    const { uid, gid } = statSync(path);
    expect({ path, uid, gid }).toEqual({ path, ...service });
  }
  const ofConfig = ['', 'errand.yaml', 'model.key'].map((name) => {
    const { uid, gid, mode } = statSync(join(configDir, name));
    return [uid, gid, (mode & 0o777).toString(8)];
  });
  expect(ofConfig).toEqual([
    [0, service.gid, '750'],
    [0, service.gid, '644'],
    [service.uid, service.gid, '600'],
  ]);
});

test.runIf(isRoot)('root gives it to the owner of the data directory, or to the user that is named', () => {
  const directory = temporaryDirectory();
  expect(ownerOf(directory, undefined)).toBeNull();
  expect(ownerOf(join(directory, 'missing'), undefined)).toBeNull();
  expect(ownerOf(directory, 'nobody')).toEqual({ uid: 65_534, gid: 65_534 });
  expect(() => ownerOf(directory, 'nobody-of-this-name')).toThrow('must be a user of this machine');
  mkdirSync(join(directory, 'owned'));
  chownSync(join(directory, 'owned'), 61_234, 61_235);
  expect(ownerOf(join(directory, 'owned'), undefined)).toEqual({ uid: 61_234, gid: 61_235 });
});

test.skipIf(isRoot)('only root gives files away', () => {
  expect(() => ownerOf(temporaryDirectory(), 'nobody')).toThrow('is for root');
  expect(ownerOf(temporaryDirectory(), undefined)).toBeNull();
});
