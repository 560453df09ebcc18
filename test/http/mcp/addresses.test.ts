import { expect, test } from 'vitest';
import { addressOfFile, addressOfText, resourceAt } from '../../../src/http/mcp/addresses.ts';

const ID = '01a22bba-4688-73fb-85f0-20b22d731b51';

test.each(['/a.md', '/notes/tide table.md', '/100%/ü?#&.txt', '/a//b', '/..%2F'])(
  'the address of %s names it',
  (path) => {
    expect(resourceAt(addressOfFile(ID, path))).toEqual({ kind: 'file', sessionId: ID, path });
    expect(URL.canParse(addressOfFile(ID, path))).toBe(true);
  },
);

test.each(['answer', 'result'] as const)('the address of a whole %s names it', (kind) => {
  expect(resourceAt(addressOfText(kind, ID))).toEqual({ kind, runId: ID });
});

test.each([
  '',
  'errand://',
  `errand://sessions/${ID}`,
  `errand://sessions/${ID}/files`,
  `errand://sessions/${ID}/files/%E0%A4%A`,
  `errand://sessions/${ID}0/files/a`,
  `errand://runs/${ID}/answer/x`,
  `https://runs/${ID}/answer`,
])('"%s" names nothing', (uri) => {
  expect(resourceAt(uri)).toBeUndefined();
});
