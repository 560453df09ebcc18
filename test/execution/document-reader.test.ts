// Documents that are meant to do harm: each costs its thread, and nothing else.
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { makeDocumentReader } from '../../src/execution/document-reader.ts';
import { makeLog } from '../../src/log.ts';
import { aPdf, aWordDocument, aZip, paragraph, stream } from '../support/documents.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

function house(parts: Partial<Parameters<typeof makeDocumentReader>[0]> = {}) {
  const reader = makeDocumentReader({ clock: systemClock, log: makeLog({ level: 'fatal' }), ...parts });
  onTestFinished(() => reader.stop());
  return reader;
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const MEBIBYTE = 1024 * 1024;
const good = { bytes: aWordDocument(paragraph('High water at noon.')), name: 'a.docx', mimeType: WORD };

test('a document is read on a thread', async () => {
  expect(await house().read(good)).toEqual({ text: 'High water at noon.' });
});

test('a document in a folder is opened on the thread, and no link leads out of the folder', async () => {
  const root = temporaryDirectory();
  const reader = house();
  writeFileSync(join(root, 'a.docx'), good.bytes);
  symlinkSync(join(root, 'a.docx'), join(root, 'link.docx'));
  expect(await reader.read({ root, path: 'a.docx' })).toEqual({ text: 'High water at noon.' });
  const gone = { fault: expect.stringMatching(/^could not be read: /) };
  expect(await reader.read({ root, path: 'b.docx' })).toEqual(gone);
  expect(await reader.read({ root, path: 'link.docx' })).toEqual(gone);
  expect(await reader.read({ root, path: '../a.docx' })).toEqual(gone);
  truncateSync(join(root, 'a.docx'), 65 * MEBIBYTE);
  expect(await reader.read({ root, path: 'a.docx' })).toEqual({ fault: 'is too large to be read' });
});

test('more documents than threads are all read', async () => {
  const reader = house();
  const all = await Promise.all(Array.from({ length: 5 }, () => reader.read(good)));
  expect(all).toEqual(Array.from({ length: 5 }, () => ({ text: 'High water at noon.' })));
});

test('a Word document that unpacks to 300 MB is given up before it is', async () => {
  const body = Buffer.concat([Buffer.from('<w:document>'), Buffer.alloc(300 * MEBIBYTE, ' ')]);
  const bomb = {
    bytes: aZip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': body }),
    name: 'a.docx',
    mimeType: WORD,
  };
  const reader = house();
  expect(bomb.bytes.length).toBeLessThan(MEBIBYTE);
  expect(await reader.read(bomb)).toEqual({ fault: 'is too large to be read' });
  expect(await reader.read(good)).toEqual({ text: 'High water at noon.' });
}, 30_000);

test('a PDF whose page unpacks to 300 MB is given up before it is', async () => {
  const content = stream(Buffer.alloc(300 * MEBIBYTE, ' '));
  const bomb = { bytes: aPdf(['x'], () => content), name: 'a.pdf', mimeType: 'application/pdf' };
  expect(await house().read(bomb)).toMatchObject({ fault: expect.stringMatching(/too large|too long/) });
}, 40_000);

test('a document whose deadline passes ends with its thread', async () => {
  const clock = fakeClock();
  const reading = house({ clock, deadlineMs: 1_000 }).read(good);
  await Promise.resolve();
  clock.advance(1_000);
  expect(await reading).toEqual({ fault: 'took too long to be read' });
});

test('a document that takes too much CPU time ends with its thread, whatever the clock says', async () => {
  const many = { bytes: aPdf(Array.from({ length: 5_000 }, () => 'High water')), name: 'a.pdf', mimeType: '' };
  const reader = house({ maxCpuMs: 20, clock: fakeClock() });
  expect(await reader.read(many)).toEqual({ fault: 'took too long to be read' });
});

test('a reader that is stopped says nothing of what it was at', async () => {
  const reader = house();
  const reading = Promise.all([reader.read(good), reader.read(good), reader.read(good)]);
  await reader.stop();
  expect(await reading).toEqual([null, null, null]);
});
