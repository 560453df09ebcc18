// Documents that are meant to do harm: each costs its process, and nothing else.
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Document } from '../../../src/agent/documents/read-document.ts';
import { makeDocumentReader } from '../../../src/execution/brief/document-reader.ts';
import { makeLog } from '../../../src/log/log.ts';
import { aPdf, aWordDocument, aZip, paragraph, stream } from '../../support/files/documents.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

function fixture(parts: Partial<Parameters<typeof makeDocumentReader>[0]> = {}) {
  const reader = makeDocumentReader({ clock: systemClock, log: makeLog({ level: 'fatal' }), ...parts });
  onTestFinished(() => reader.stop());
  return reader;
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const MEBIBYTE = 1024 * 1024;
/** A document as the reader asks for it. */
const lying = ({ bytes, name, mimeType }: Document) => ({ load: async () => bytes, name, mimeType });
const bytes = aWordDocument(paragraph('High water at noon.'));
const good = lying({ bytes, name: 'a.docx', mimeType: WORD });

test('a document is read in a process', async () => {
  expect(await fixture().read(good)).toEqual({ text: 'High water at noon.' });
});

test('a document in a folder is opened in the process, and no link leads out of the folder', async () => {
  const root = temporaryDirectory();
  const reader = fixture();
  writeFileSync(join(root, 'a.docx'), bytes);
  symlinkSync(join(root, 'a.docx'), join(root, 'link.docx'));
  expect(await reader.read({ root, path: 'a.docx' })).toEqual({ text: 'High water at noon.' });
  const gone = { fault: expect.stringMatching(/^could not be read: /) };
  expect(await reader.read({ root, path: 'b.docx' })).toEqual(gone);
  expect(await reader.read({ root, path: 'link.docx' })).toEqual(gone);
  expect(await reader.read({ root, path: '../a.docx' })).toEqual(gone);
  truncateSync(join(root, 'a.docx'), 65 * MEBIBYTE);
  expect(await reader.read({ root, path: 'a.docx' })).toEqual({ fault: 'is too large to be read' });
});

test('more documents than processes are all read', async () => {
  const reader = fixture();
  const all = await Promise.all(Array.from({ length: 5 }, () => reader.read(good)));
  expect(all).toEqual(Array.from({ length: 5 }, () => ({ text: 'High water at noon.' })));
});

test('documents are loaded when their turn comes, so that only those being read are held', async () => {
  const reader = fixture();
  const [first, ...others] = Array.from({ length: 5 }, () => Promise.withResolvers<Uint8Array>());
  let loading = 0;
  const load = (from: Promise<Uint8Array>) => () => {
    loading += 1;
    return from;
  };
  const all = [first!, ...others].map(({ promise }) => reader.read({ ...good, load: load(promise) }));
  await new Promise(setImmediate);
  expect(loading).toBe(2);
  first!.resolve(Buffer.from(bytes));
  await all[0];
  await waitFor(() => loading === 3);
  for (const { resolve } of others) resolve(Buffer.from(bytes));
  expect(new Set((await Promise.all(all)).map((said) => JSON.stringify(said)))).toEqual(
    new Set([JSON.stringify({ text: 'High water at noon.' })]),
  );
});

test('a Word document that unpacks to 300 MB is given up before it is', async () => {
  const body = Buffer.concat([Buffer.from('<w:document>'), Buffer.alloc(300 * MEBIBYTE, ' ')]);
  const bomb = {
    bytes: aZip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': body }),
    name: 'a.docx',
    mimeType: WORD,
  };
  const reader = fixture();
  expect(bomb.bytes.length).toBeLessThan(MEBIBYTE);
  expect(await reader.read(lying(bomb))).toEqual({ fault: 'is too large to be read' });
  expect(await reader.read(good)).toEqual({ text: 'High water at noon.' });
});

test('a Word document that fills the memory of its process at once leaves the daemon, and the next one is read', async () => {
  const long = aWordDocument(paragraph('a&amp;'.repeat(11_000_000)));
  const reader = fixture();
  expect(long.length).toBeLessThan(MEBIBYTE);
  expect(await reader.read(lying({ bytes: long, name: 'a.docx', mimeType: WORD }))).toEqual({
    fault: 'is too large to be read',
  });
  expect(await reader.read(good)).toEqual({ text: 'High water at noon.' });
});

test('a PDF whose page unpacks to 300 MB is given up before it is', async () => {
  const content = stream(Buffer.alloc(300 * MEBIBYTE, ' '));
  const bomb = { bytes: aPdf(['x'], () => content), name: 'a.pdf', mimeType: 'application/pdf' };
  expect(await fixture().read(lying(bomb))).toMatchObject({ fault: expect.stringMatching(/too large|too long/) });
});

test('a document that exceeds its deadline ends with its process, and may be read at a quieter moment', async () => {
  const clock = fakeClock();
  const reader = fixture({ clock, deadlineMs: 1_000 });
  const reading = reader.read(good);
  await new Promise(setImmediate);
  clock.advance(1_000);
  expect(await reading).toBeNull();
  expect(await reader.read(good)).toEqual({ text: 'High water at noon.' });
});

test('a document that takes too much CPU time ends with its process, regardless of the clock', async () => {
  const many = { bytes: aPdf(Array.from({ length: 5_000 }, () => 'High water')), name: 'a.pdf', mimeType: '' };
  const reader = fixture({ maxCpuMs: 500, clock: fakeClock() });
  expect(await reader.read(lying(many))).toEqual({ fault: 'took too long to be read' });
});

test('a document that took too much is reported, whether it was read or not; others are not', async () => {
  const slow: string[] = [];
  const read = async (parts: Parameters<typeof fixture>[0], name: string) =>
    fixture(parts).read({ ...good, name }, () => slow.push(name));
  await read({}, 'quick.docx');
  await read({ slowCpuMs: 1 }, 'slow.docx');
  await read({ maxCpuMs: 1 }, 'endless.docx');
  expect(slow).toEqual(['slow.docx', 'endless.docx']);
});

test('a reader that is stopped says nothing of what it was at', async () => {
  const reader = fixture();
  const reading = Promise.all([reader.read(good), reader.read(good), reader.read(good)]);
  await reader.stop();
  expect(await reading).toEqual([null, null, null]);
});
