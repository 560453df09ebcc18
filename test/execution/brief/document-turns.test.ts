// Whose document is read next: one user's, however many they are and however long they take, keep nobody else's waiting.
import { expect, onTestFinished, test } from 'vitest';
import type { DocumentText } from '../../../src/agent/port/services.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { makeHalt } from '../../../src/domain/halt.ts';
import { type DocumentSource, makeDocumentReader } from '../../../src/execution/brief/document-reader.ts';
import { makeDocumentTurns } from '../../../src/execution/brief/document-turns.ts';
import { makeLog } from '../../../src/log/log.ts';
import { aPdf } from '../../support/files/documents.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

const settle = () => new Promise(setImmediate);
const nameOf = (source: DocumentSource) => ('name' in source ? source.name : source.path);

/** A reader whose documents take until they are finished; those of names that begin with `slow` are. */
function fixture() {
  const reading = new Map<string, (text: DocumentText | null) => void>();
  const began: string[] = [];
  const reader = {
    read: async (source: DocumentSource, slow?: () => void) => {
      const name = nameOf(source);
      began.push(name);
      const text = await new Promise<DocumentText | null>((resolve) => reading.set(name, resolve));
      if (name.startsWith('slow')) slow?.();
      return text;
    },
  };
  const turns = makeDocumentTurns(reader, fakeClock());
  const kept = new Map<string, DocumentText>();
  const read = async (userSeq: number, path: string, off = makeHalt()) =>
    turns.read(
      { root: '/w', path },
      { find: async () => kept.get(path), keep: async (text) => void kept.set(path, text) },
      { userSeq, off },
    );
  const finish = async (name: string, text: DocumentText | null = { text: name }) => {
    reading.get(name)!(text);
    await settle();
  };
  return { read, finish, began, kept };
}

test('a user with many documents has one read at a time, and those of others are read meanwhile', async () => {
  const { read, finish, began } = fixture();
  const many = ['a', 'b', 'c'].map((name) => read(1, name));
  const other = read(2, 'other');
  await settle();
  expect(began).toEqual(['a', 'other']);
  await finish('other');
  expect(await other).toEqual({ text: 'other' });
  for (const name of ['a', 'b', 'c']) await finish(name);
  expect(await Promise.all(many)).toEqual(['a', 'b', 'c'].map((text) => ({ text })));
});

test('users whose documents were slow have them read one after another, all together', async () => {
  const { read, finish, began } = fixture();
  const slow = [read(1, 'slow 1'), read(2, 'slow 2')];
  await settle();
  for (const name of ['slow 1', 'slow 2']) await finish(name, { fault: 'took too long to be read' });
  await Promise.all(slow);
  void read(1, 'a');
  void read(2, 'b');
  void read(3, 'c');
  await settle();
  expect(began.slice(2)).toEqual(['c', 'a']);
  await finish('a');
  expect(began.slice(4)).toEqual(['b']);
});

test('what waits for a run that has ended is not read', async () => {
  const { read, finish, began } = fixture();
  const off = makeHalt();
  const [first, second, third] = [read(1, 'a', off), read(1, 'b', off), read(1, 'c')];
  await settle();
  off.halt();
  await finish('a');
  expect(await second).toBeNull();
  await settle();
  await finish('c');
  expect([await first, await third]).toEqual([{ text: 'a' }, { text: 'c' }]);
  expect(began).toEqual(['a', 'c']);
});

test('more than may wait of one user are not read now, whatever others have waiting', async () => {
  const { read, finish, began } = fixture();
  const own = Array.from({ length: 64 }, (_, index) => read(1, `${index}`));
  await settle();
  expect(await read(1, 'one more')).toBeNull();
  const other = read(2, 'other');
  await settle();
  await finish('other');
  expect(await other).toEqual({ text: 'other' });
  for (let index = 0; index < 64; index += 1) await finish(`${index}`);
  await Promise.all(own);
  void read(1, 'one more');
  await settle();
  expect(began.at(-1)).toBe('one more');
});

test('two runs of a user that need the same document read it once; what is known waits for nothing', async () => {
  const { read, finish, began, kept } = fixture();
  kept.set('known', { text: 'known' });
  const both = [read(1, 'a'), read(1, 'a')];
  expect(await read(1, 'known')).toEqual({ text: 'known' });
  await settle();
  await finish('a');
  expect(await Promise.all(both)).toEqual([{ text: 'a' }, { text: 'a' }]);
  expect(began).toEqual(['a']);
});

test('what could not be read is not kept, and the next one tries it', async () => {
  const { read, finish, began } = fixture();
  const both = [read(1, 'a'), read(1, 'a')];
  await settle();
  await finish('a', null);
  await finish('a');
  expect(await Promise.all(both)).toEqual([null, { text: 'a' }]);
  expect(began).toEqual(['a', 'a']);
});

test('users whose documents used up their CPU time have one process together, and leave the other to the rest', async () => {
  const reader = makeDocumentReader({ clock: systemClock, log: makeLog({ level: 'fatal' }), maxCpuMs: 1_500 });
  onTestFinished(() => reader.stop());
  const turns = makeDocumentTurns(reader, systemClock);
  const unknown = { find: async () => undefined, keep: async () => undefined };
  const read = async (userSeq: number, load: () => Promise<Uint8Array>) =>
    turns.read({ load, name: 'a', mimeType: '' }, unknown, { userSeq, off: makeHalt() });
  const endless = aPdf(Array.from({ length: 10_000 }, () => 'High water'));
  const hostile = await Promise.all([1, 2].map((user) => read(user, async () => endless)));
  for (const end of hostile) expect(end).toEqual({ fault: 'took too long to be read' });
  const loading = Promise.withResolvers<Uint8Array>();
  const waiting = [1, 2].map((user) => read(user, () => loading.promise));
  expect(await read(3, async () => Buffer.from('High water.'))).toEqual({ text: 'High water.' });
  loading.resolve(Buffer.from('Low water.'));
  expect(await Promise.all(waiting)).toEqual([{ text: 'Low water.' }, { text: 'Low water.' }]);
});
