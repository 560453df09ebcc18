// Long texts as they are stored: written as JSON in pieces, however the bytes of a character are cut.
import { expect, test } from 'vitest';
import { piecesOf } from '../../../src/http/replies/json-pieces.ts';
import { storedJson, streamedText } from '../../../src/http/replies/stored-text.ts';

const pause = async () => undefined;
const written = async (part: unknown) => Array.fromAsync(piecesOf(part, { hold: pause, pause }));

test.each([
  ['nothing', ''],
  ['what JSON escapes', '\u0001"\\\n'.repeat(30_000)],
  ['characters of one to four bytes', 'aé€🌊'.repeat(20_000)],
  ['the mark of a byte order', `\ufeff${'x'.repeat(40_000)}\ufeff`],
])('%s', async (_, text) => {
  const bytes = Buffer.from(text);
  const pieces = await written(streamedText(bytes));
  expect(pieces.join('')).toBe(JSON.stringify(text));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(200_000);
  const json = JSON.stringify({ text });
  expect((await written({ a: storedJson(Buffer.from(json)) })).join('')).toBe(`{"a":${json}}`);
});
