// Restores of backups with damaged objects: what is damaged is named, and everything else is there.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readList } from '../../src/backups/repository/file-list.ts';
import { objectsOf } from '../../src/backups/repository/repository.ts';
import { restore } from '../../src/backups/restore.ts';
import { openSource } from '../../src/backups/source.ts';
import { blobPath } from '../../src/files/blobs/blob-place.ts';
import { requireRestored } from '../../src/files/restore-marker.ts';
import { filesIn, installation, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

async function backup() {
  const fixture = await installation();
  await fixture.addSession('some text');
  await fixture.addSession('other text');
  fixture.put(join(fixture.configDir, 'errand.yaml'), 'listen: 127.0.0.1:1\n');
  const manifest = await take(fixture.task());
  const files = [...readList(manifest.list, openSource(fixture.repository).read)];
  const objectAt = (key: string) => blobPath(objectsOf(fixture.repository), key);
  return { ...fixture, manifest, files, objectAt };
}

test.each(['altered', 'missing'])(
  'each file whose object is %s is named and left out, and the rest is restored',
  async (harm) => {
    const { repository, files, objectAt, manifest } = await backup();
    const damaged = files.filter(({ kind, objects }) => kind !== 'database' && objects.length > 0);
    expect(new Set(damaged.map(({ kind }) => kind))).toEqual(new Set(['blob', 'workspace', 'configuration']));
    for (const { kind, path, objects } of damaged) {
      const object = objectAt(objects[0]!);
      const whole = readFileSync(object);
      if (harm === 'missing') rmSync(object);
      else writeFileSync(object, Buffer.from(whole).fill(0x20, 0, 1));
      const target = temporaryDirectory();
      const { count, named } = await restore(requestOf(repository, target));
      const name = kind === 'blob' ? `blob ${path}` : path;
      const why = expect.stringContaining(objects[0]!) as string;
      expect([count, named]).toEqual([1, [{ path: name, why }]]);
      expect((await verdictOf(repository, manifest.id)).faults).toEqual([why]);
      // A daemon may start on it, and nothing is there that isn't whole.
      requireRestored(join(target, 'data'));
      const restored = Object.keys({ ...filesIn(join(target, 'data')), ...filesIn(join(target, 'config')) });
      expect(restored).toHaveLength(files.filter(({ type }) => type === undefined).length);
      writeFileSync(object, whole);
    }
  },
);

test('without its database, nothing is restored: the message names it, and another backup as the way', async () => {
  const { repository, files, objectAt, manifest } = await backup();
  rmSync(objectAt(files[0]!.objects[0]!));
  const target = temporaryDirectory();
  await expect(restore(requestOf(repository, target))).rejects.toThrow(
    new RegExp(
      `^The database of the backup ${manifest.id} can't be restored: .*${files[0]!.objects[0]}.* Restore another`,
    ),
  );
  expect(existsSync(join(target, 'data', 'blobs'))).toBe(false);
  // The others are verified nevertheless.
  rmSync(objectAt(files.find(({ kind }) => kind === 'configuration')!.objects[0] ?? files.at(-1)!.objects[0]!));
  const { faults } = await verdictOf(repository, manifest.id);
  expect(faults[0]).toContain('database "errand.db": The object');
  expect(faults.at(-1)).toContain('configuration "/errand.yaml": The object');
});

test('a lost part of the list costs the files that it names, and their number is known', async () => {
  const fixture = await installation();
  // Enough that the list has several parts.
  const { sessionId } = await fixture.addSession('some text');
  for (let index = 0; index < 2_000; index += 1)
    fixture.put(join(fixture.dataDir, 'workspaces', sessionId, `f${index}`), 'x');
  const manifest = await take(fixture.task());
  expect(manifest.list.length).toBeGreaterThan(2);
  const source = openSource(fixture.repository);
  const key = manifest.list[1]!;
  const names = [...readList([key], source.read)].length;
  rmSync(blobPath(objectsOf(fixture.repository), key));
  const target = temporaryDirectory();
  const { count, named } = await restore(requestOf(fixture.repository, target));
  expect([count, named]).toEqual([
    names,
    [{ path: `object ${key}`, why: 'a part of the list of files, it is damaged' }],
  ]);
  const left = Object.keys(filesIn(join(target, 'data', 'workspaces'))).length;
  expect(left).toBe(2_001 - names);
  expect((await verdictOf(fixture.repository, manifest.id)).faults[0]).toContain(
    `A part of the list of files is lost (object ${key})`,
  );
});
