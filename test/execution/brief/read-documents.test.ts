// Texts of attached documents: read once, kept, and never in the way of a turn.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Ends } from '../../../src/agent/port/protocol.ts';
import { endsOf } from '../../../src/agent/documents/excerpt.ts';
import type { Document } from '../../../src/agent/documents/read-document.ts';
import type { DocumentText } from '../../../src/agent/port/services.ts';
import { makeHalt } from '../../../src/domain/halt.ts';
import type { Attachment } from '../../../src/domain/sessions/content.ts';
import type { DocumentSource } from '../../../src/execution/brief/document-reader.ts';
import { makeDocumentTurns } from '../../../src/execution/brief/document-turns.ts';
import { makeDocuments } from '../../../src/execution/brief/read-documents.ts';
import { openBlobsInFiles } from '../../support/files/blobs-in-files.ts';
import { makeLog } from '../../../src/log/log.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

type Answer = DocumentText | null | Promise<DocumentText | null>;

async function fixture(
  answer: (document: Document) => Answer = ({ bytes }) => ({ text: Buffer.from(bytes).toString() }),
) {
  const { store, clock } = await storeFixture();
  const blobs = await openBlobsInFiles(join(temporaryDirectory(), 'blobs'));
  const asked: string[] = [];
  const reader = {
    read: async (source: DocumentSource) => {
      if (!('load' in source)) throw new Error('an attachment is no file of a folder');
      asked.push(source.name);
      return answer({ ...source, bytes: await source.load() });
    },
  };
  const turns = makeDocumentTurns(reader, clock);
  const { textsOf } = makeDocuments({ store, blobs, turns, clock, log: makeLog({ level: 'fatal' }) });
  const documents = {
    textsOf: async (attachments: readonly Attachment[], off = makeHalt()) => textsOf(attachments, { userSeq: 1, off }),
  };
  const attach = async (text: string, over: Partial<Attachment> = {}): Promise<Attachment> => {
    const sha256 = await blobs.hold().put(Buffer.from(text));
    const path = 'attachments/1/a.txt';
    const facts = { id: '1', name: 'a.txt', path, workspacePath: '/uploads/a.txt', mimeType: 'text/plain' };
    return { ...facts, size: text.length, sha256, ...over };
  };
  return { documents, asked, attach, clock, store };
}

test('a document is read once, for all turns that have it', async () => {
  const { documents, asked, attach } = await fixture();
  const one = await attach('The tide turns.');
  expect(await documents.textsOf([one])).toEqual({ [one.sha256]: endsOf('The tide turns.') });
  expect(await documents.textsOf([one, await attach('The tide turns.', { id: '2', name: 'b.txt' })])).toEqual({
    [one.sha256]: endsOf('The tide turns.'),
  });
  expect(asked).toEqual(['a.txt']);
});

test('two turns that need the same document at the same time read it once', async () => {
  const { documents, asked, attach } = await fixture();
  const one = await attach('The tide turns.');
  await Promise.all([documents.textsOf([one]), documents.textsOf([one])]);
  expect(asked).toEqual(['a.txt']);
});

test('that a document cannot be read is stored, too', async () => {
  const fault = { fault: 'is protected by a password' };
  const { documents, asked, attach } = await fixture(() => fault);
  const one = await attach('?');
  await documents.textsOf([one]);
  expect(await documents.textsOf([one])).toEqual({ [one.sha256]: fault });
  expect(asked).toHaveLength(1);
});

test('a reader that is ended leaves the document without a text, and it is read at the next turn', async () => {
  const answers: (DocumentText | null)[] = [null, { text: 'Now.' }];
  const { documents, attach } = await fixture(() => answers.shift()!);
  const one = await attach('?');
  expect(await documents.textsOf([one])).toEqual({});
  expect(await documents.textsOf([one])).toEqual({ [one.sha256]: endsOf('Now.') });
});

test('a document whose bytes are missing leaves the turn as it is', async () => {
  const { documents, attach } = await fixture();
  expect(await documents.textsOf([await attach('?', { sha256: '0'.repeat(64) })])).toEqual({});
});

test('images and documents beyond all measure are not read', async () => {
  const { documents, asked, attach } = await fixture();
  const image = await attach('i', { mimeType: 'image/png' });
  const huge = await attach('h', { size: 65 * 1024 * 1024 });
  expect(await documents.textsOf([image, huge])).toEqual({ [huge.sha256]: { fault: 'is too large to be read' } });
  expect(asked).toEqual([]);
});

test('a turn waits a minute for its documents; what comes later is there for the next', async () => {
  const slow = Promise.withResolvers<DocumentText>();
  const { documents, asked, attach, clock, store } = await fixture(({ name }) =>
    name === 'slow' ? slow.promise : { text: 'quick' },
  );
  const [one, two] = [await attach('1', { name: 'slow' }), await attach('2', { name: 'quick' })];
  const reading = documents.textsOf([two, one]);
  await waitFor(async () => asked.length === 2 && (await store.documents.find(two.sha256)) !== undefined);
  // The reading that stored its text notifies the turn in the same turn of the event loop.
  await new Promise(setImmediate);
  clock.advance(60_000);
  expect(await reading).toEqual({ [two.sha256]: endsOf('quick') });
  slow.resolve({ text: 'at last' });
  await waitFor(async () => (await store.documents.find(one.sha256)) !== undefined);
  expect(await documents.textsOf([one])).toEqual({ [one.sha256]: endsOf('at last') });
});

test('a run has one document read at a time, in their order, and those that are known whatever the others take', async () => {
  const slow = Promise.withResolvers<DocumentText>();
  const { documents, asked, attach, clock } = await fixture(({ name }) =>
    name === 'slow' ? slow.promise : { text: name },
  );
  const [one, two, known] = [
    await attach('1', { name: 'slow' }),
    await attach('2', { name: 'quick' }),
    await attach('3', { name: 'known' }),
  ];
  await documents.textsOf([known]);
  const reading = documents.textsOf([one, two, known]);
  await waitFor(() => asked.length === 2);
  await new Promise(setImmediate);
  clock.advance(60_000);
  expect(await reading).toEqual({ [known.sha256]: endsOf('known') });
  expect(asked).toEqual(['known', 'slow']);
  slow.resolve({ text: 'at last' });
  await waitFor(() => asked.length === 3);
});

test('a run that is called off waits for its documents no more, and what is not begun is not read', async () => {
  const slow = Promise.withResolvers<DocumentText>();
  const { documents, asked, attach, store } = await fixture(() => slow.promise);
  const [one, two] = [await attach('1', { name: 'one' }), await attach('2', { name: 'two' })];
  const off = makeHalt();
  const reading = documents.textsOf([one, two], off);
  await waitFor(() => asked.length === 1);
  off.halt();
  expect(await reading).toEqual({});
  slow.resolve({ text: 'at last' });
  await waitFor(async () => (await store.documents.find(one.sha256)) !== undefined);
  await new Promise(setImmediate);
  expect(asked).toEqual(['one']);
});

test('a run carries no more of a document than a model is ever shown', async () => {
  const { documents, attach } = await fixture(() => ({ text: `start${'x'.repeat(100_000)}end` }));
  const one = await attach('?');
  const { text, characters } = (await documents.textsOf([one]))[one.sha256] as Ends;
  expect([text.length, characters]).toEqual([30_000, 100_008]);
  expect(text).toMatch(/^start[^]*end$/);
});
