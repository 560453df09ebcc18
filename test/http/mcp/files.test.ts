import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import { inMemory } from '../../../src/files/blobs/open-blob.ts';
import type { ToolCall } from '../../../src/http/mcp/call.ts';
import { makeFileTools, makeReadResource } from '../../../src/http/mcp/files.ts';
import type { Operations } from '../../../src/operations/operations.ts';

const CALL = { exchange: { takeRoom: () => undefined, bases: { own: 'http://errand' } } } as unknown as ToolCall;

function operationsOn(bytes: Buffer): Operations {
  const file = {
    path: '/a.csv',
    name: 'a.csv',
    size: bytes.length,
    mimeType: 'text/csv',
    downloadAddress: '/download',
  };
  const openOwnFile = async () => ({ sessionId: 'session', file, blob: inMemory(bytes) });
  return { openOwnFile } as unknown as Operations;
}

async function readAll(bytes: Buffer): Promise<{ text: string; charsets: unknown[] }> {
  const { read_file: readFile } = makeFileTools(operationsOn(bytes));
  let text = '';
  const charsets = new Set<unknown>();
  for (let offset: number | null = 0; offset !== null; ) {
    const result = await readFile(CALL, { sessionId: 'session', path: '/a.csv', offset });
    const output = result.output as JsonObject;
    text += output['text'] as string;
    charsets.add(output['charset']);
    offset = output['next_offset'] as number | null;
  }
  return { text, charsets: [...charsets] };
}

const readWhole = (bytes: Buffer) =>
  makeReadResource(operationsOn(bytes))(CALL, { kind: 'file', sessionId: 'session', path: '/a.csv' });

/** Parts of 48 KB end within one of these pairs, whichever byte they begin at. */
const LONG = `Tide,Höhe\n${'a'.repeat(24_565)}${'🌊'.repeat(30_000)}`;
const MARK = Buffer.from([0xff, 0xfe]);

test.each([
  ['UTF-16 with a mark', Buffer.concat([MARK, Buffer.from(LONG, 'utf16le')]), 'utf-16le'],
  ['UTF-16 without one', Buffer.from(LONG, 'utf16le'), 'utf-16le'],
  ['UTF-16 of the other byte order', Buffer.from(LONG, 'utf16le').swap16(), 'utf-16be'],
  ['UTF-8', Buffer.from(LONG), 'utf-8'],
])('a text in %s is read in parts, and whole as a resource', async (_name, bytes, charset) => {
  expect(await readAll(bytes)).toEqual({ text: LONG, charsets: [charset] });
  expect(await readWhole(bytes)).toEqual({ mimeType: 'text/csv', text: LONG });
});

test('an offset within a character of UTF-16 is one at its beginning', async () => {
  const { read_file: readFile } = makeFileTools(operationsOn(Buffer.from('Tide,Höhe', 'utf16le')));
  const { output } = await readFile(CALL, { sessionId: 'session', path: '/a.csv', offset: 11 });
  expect(output).toMatchObject({ text: 'Höhe', next_offset: null });
});

test('what is no text, or in another charset, has none', async () => {
  for (const bytes of [Buffer.from([1, 0, 2, 0, 0, 0]), Buffer.from('H\xf6he', 'latin1')]) {
    const { read_file: readFile } = makeFileTools(operationsOn(bytes));
    const { output } = await readFile(CALL, { sessionId: 'session', path: '/a.csv', offset: 0 });
    expect(output).toMatchObject({
      text: null,
      charset: null,
      next_offset: null,
      download_url: 'http://errand/download',
    });
    expect(await readWhole(bytes)).toEqual({ mimeType: 'text/csv', blob: bytes.toString('base64') });
  }
});
