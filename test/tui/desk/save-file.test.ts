import { readFileSync, readdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';
import { saveFile } from '../../../src/tui/desk/save-file.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const clientThat = (download: () => Promise<Readable>) => ({ download }) as unknown as Client;
const gives = (text: string) => clientThat(async () => Readable.from([text]));

test('a file is saved under its name, and never over another', async () => {
  const directory = temporaryDirectory();
  expect(await saveFile(gives('one'), { url: 'u', name: 'a.md' }, directory)).toBe(`Saved ${directory}/a.md`);
  expect(await saveFile(gives('two'), { url: 'u', name: 'a.md' }, directory)).toContain('Nothing was saved.');
  expect(readFileSync(`${directory}/a.md`, 'utf8')).toBe('one');
  expect(readdirSync(directory)).toEqual(['a.md']);
});

test.each([
  ['../../evil.sh', 'evil.sh'],
  ['.bashrc', 'bashrc'],
  ['a\u001b]0;x\u0007\n.md', 'a]0;x.md'],
  ['..', 'file'],
])('the name %j stays in the folder as %j', async (name, own) => {
  const directory = temporaryDirectory();
  await saveFile(gives('x'), { url: 'u', name }, directory);
  expect(readdirSync(directory)).toEqual([own]);
});

test('what breaks off leaves nothing', async () => {
  const directory = temporaryDirectory();
  const refused = clientThat(() => Promise.reject(new ClientError({ kind: 'lost' }, 'The connection broke.')));
  expect(await saveFile(refused, { url: 'u', name: 'a' }, directory)).toBe('Not saved: The connection broke.');
  const broken = clientThat(async () =>
    Readable.from(
      (function* () {
        yield 'half';
        throw new Error('broken');
      })(),
    ),
  );
  expect(await saveFile(broken, { url: 'u', name: 'a' }, directory)).toBe('Not saved: It broke off.');
  expect(readdirSync(directory)).toEqual([]);
});
