import { expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import { makeJsonScan, type ScanLimits } from '../../../src/http/body/json-scan.ts';

const LIMITS: ScanLimits = { maxNodes: 1_000_000, longBytes: Infinity, maxTextBytes: Infinity };

/** Scans a text in chunks of a size, and returns its long strings as written, or how it is refused. */
function scanned(
  text: string,
  { chunk = 7, ...given }: Partial<ScanLimits> & { chunk?: number } = {},
): string[] | string {
  const bytes = Buffer.from(text);
  const scan = makeJsonScan({ ...LIMITS, ...given });
  const found: string[] = [];
  let from = -1;
  try {
    for (let at = 0; at < bytes.length; at += chunk) {
      for (const mark of scan(bytes.subarray(at, at + chunk))) {
        if (mark.kind === 'long') from = at + mark.at - mark.length;
        else found.push(bytes.subarray(from, at + mark.at).toString());
      }
    }
  } catch (error) {
    if (error instanceof ErrandError) return error.message;
    throw error;
  }
  return found;
}

const objectOf = (names: number) => Object.fromEntries(Array.from({ length: names }, (_, i) => [`n${i}`, i]));

test('a million names in one object are refused at the thousand and first', { tags: ['A5-limits'] }, () => {
  const scan = makeJsonScan({ ...LIMITS, maxNodes: 100_000 });
  const text = Buffer.from(JSON.stringify(objectOf(1_001)).slice(0, -1));
  expect(() => scan(text)).toThrow('body: no object may have more than 1000 names');
  expect(scanned(JSON.stringify([objectOf(1_000), objectOf(1_000)]))).toEqual([]);
  expect(scanned(JSON.stringify({ a: objectOf(999), b: objectOf(1_001) }))).toBe(
    'b: no object may have more than 1000 names',
  );
});

test.each([
  ['scalars', [1, 'a', null, true, false, -1.5e3, ''], 8, '[6]'],
  ['empty containers', [[], {}, [[]], {}], 6, '[3]'],
  ['names, which are no values', { a: 1, b: { c: [1, 2] } }, 6, 'b.c[1]'],
])(
  'values are counted exactly, and the first beyond is named: %s',
  { tags: ['A4-limits-of-a-body'] },
  (_, value, count, path) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      expect(scanned(text, { maxNodes: count })).toEqual([]);
      expect(scanned(text, { maxNodes: count - 1 })).toBe(`${path}: the body must hold at most ${count - 1} values`);
    }
  },
);

test('sixty-four levels pass, sixty-five do not', { tags: ['A5-limits'] }, () => {
  expect(scanned('['.repeat(64) + ']'.repeat(64))).toEqual([]);
  expect(scanned('['.repeat(65))).toBe(`${'[0]'.repeat(64)}: must not nest deeper than 64 levels`);
});

test.each([
  ['of lists and objects', '{"a":[0,{"b":1,"c":[[],', 'a[1].c[1]'],
  ['after what has ended', '{"a":{"b":[1,2]},"c":{"d":3},"e":', 'e'],
  ['with an odd name', '{"a b":{"\\u0000":{"":[', '["a b"]["\\\\u0000"][0]'],
  ['with a name that is cut', `{"${'n'.repeat(70)}":[`, `${'n'.repeat(64)}…[0]`],
  [
    'that is cut itself',
    `{"a":{${`"${'n'.repeat(60)}":{`.repeat(5)}"b":`,
    `a${`.${'n'.repeat(60)}`.repeat(5)}`.slice(0, 255),
  ],
])('a refusal names the path %s, whatever the chunks', { tags: ['A4-limits-of-a-body'] }, (_, text, path) => {
  const deep = `${text}${'['.repeat(65)}`;
  for (const chunk of [1, 7, 4_096]) {
    const told = scanned(deep, { chunk });
    expect(told).toMatch(/: must not nest deeper than 64 levels$/);
    expect((told as string).startsWith(path)).toBe(true);
    expect((told as string).length).toBeLessThan(350);
  }
});

test('text beyond what may be parsed is refused at the value that is too much, and long strings do not count', {
  tags: ['A4-limits-of-a-body'],
}, () => {
  const text = JSON.stringify({ messages: [{ content: 'x'.repeat(50) }, { content: 'y'.repeat(40) }], z: 1 });
  for (const chunk of [1, 7, 4_096]) {
    expect(scanned(text, { chunk, maxTextBytes: text.length })).toEqual([]);
    expect(scanned(text, { chunk, maxTextBytes: 100 })).toMatch(
      /^messages\[1\]\.content: here the body exceeds 100 bytes/,
    );
    expect(scanned(text, { chunk, maxTextBytes: 100, longBytes: 45 })).toEqual(['x'.repeat(50)]);
  }
});

test.each([1, 2, 3, 5, 7, 64, 4_096])('long strings are found whole in chunks of %i bytes', (chunk) => {
  const long = 'é"\\\u2028{[,:]}'.repeat(20);
  const text = JSON.stringify({ [long]: 'short', a: ['x'.repeat(30), long, { b: 'y'.repeat(31) }], c: '[' });
  const inside = JSON.stringify(long).slice(1, -1);
  expect(scanned(text, { chunk, longBytes: 30 })).toEqual([inside, inside, 'y'.repeat(31)]);
});

test.each(['"a\nb"', '"\\x"', '"\\u12g4"', '"\\u12"', '"\u0000"'])(
  'what no string may hold is refused: %j',
  { tags: ['A5-text'] },
  (text) => {
    for (const chunk of [1, 2, 100]) expect(scanned(text, { chunk })).toBe('The body is not valid JSON.');
  },
);
