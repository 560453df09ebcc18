// Secrets in replies of services: found in the usual encodings, across cuts, and nothing else is touched.
import { expect, test } from 'vitest';
import { makeRedactor, secretsIn } from '../../../src/outbound/secrets/redact.ts';
import { cpuMsOf } from '../../support/time/cpu-time.ts';

const SECRET = 'sk-live_9f+K/2=q"x&y<z\\w';
const codes = (write: (code: string, at: number) => string) =>
  Array.from(SECRET)
    .map((one, at) => write(one.charCodeAt(0).toString(16), at))
    .join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const json = (text: string) => JSON.stringify(text).slice(1, -1);

test.each<[string, string]>([
  ['as it is', SECRET],
  ['in percent escapes', encodeURIComponent(SECRET)],
  ['in percent escapes, every character', codes((code) => `%${code}`)],
  ['in JSON', json(SECRET)],
  ['in JSON within JSON', json(json(SECRET))],
  ['in \\u escapes', codes((code) => `\\u00${code}`)],
  ['in \\u escapes of upper case', codes((code) => `\\u00${code.toUpperCase()}`)],
  ['in JSON within percent escapes', encodeURIComponent(json(SECRET))],
  ['in HTML', SECRET.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')],
  [
    'in numbers of HTML',
    Array.from(SECRET)
      .map((one) => `&#${one.charCodeAt(0)};`)
      .join(''),
  ],
  ['in hex numbers of HTML', codes((code) => `&#x${code};`)],
  ['in escapes of several kinds', codes((code, at) => [`%${code}`, `\\u00${code}`, `&#x${code};`][at % 3]!)],
  ['in Base64', base64(SECRET)],
  ['in Base64 after one byte', base64(`a${SECRET}`).slice(1)],
  ['in Base64 after two bytes', base64(`ab${SECRET}`).slice(2)],
  ['in URL-safe Base64', Buffer.from(SECRET).toString('base64url')],
  ['in Base64 within JSON', base64(SECRET).replaceAll('/', '\\/')],
  ['in hex', Buffer.from(SECRET).toString('hex')],
  ['in hex of upper case', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ['reversed', Array.from(SECRET).toReversed().join('')],
  ['folded', `${SECRET.slice(0, 9)}\r\n  ${SECRET.slice(9)}`],
  ['with NULs between', Array.from(SECRET).join('\uFFFD')],
])('a secret %s is redacted', (_, form) => {
  const { text, places } = makeRedactor([SECRET])(`before ${form} after`);
  expect(text).toMatch(/^before [A-Za-z0-9]{0,2}\[credential\][A-Za-z0-9+/]{0,2}={0,2} after$/);
  expect(places).toBe(1);
});

test('a Basic credential is found by its user and password as well as by what is sent', () => {
  const redact = makeRedactor(secretsIn(`Basic ${base64('mara:open-sesame')}`));
  expect(redact('password open-sesame').text).toBe('password [credential]');
  expect(redact(`Basic ${base64('mara:open-sesame')}`).text).toBe('Basic [credential]');
  expect(makeRedactor(secretsIn('Bearer abcdef123'))('token=abcdef123;').text).toBe('token=[credential];');
});

test('what is not a secret is unchanged: other text, escapes, and values that are too short to be secrets', () => {
  const page = 'C:\\users\\x &amp; 100% "quoted" \\u00e9 %E4 [1,2]\n\ttab';
  expect(makeRedactor([SECRET])(page)).toEqual({ text: page, places: 0 });
  expect(makeRedactor(['abc', ''])('abc abc')).toEqual({ text: 'abc abc', places: 0 });
  expect(makeRedactor([])(page, true)).toEqual({ text: page, places: 0 });
});

test('every place is redacted and counted, those that overlap as one', () => {
  expect(makeRedactor([SECRET])(`${SECRET}, ${SECRET}; ${json(SECRET)}`)).toEqual({
    text: '[credential], [credential]; [credential]',
    places: 3,
  });
  expect(makeRedactor(['abcabcab'])('-abcabcabcabcab-')).toEqual({ text: '-[credential]-', places: 1 });
});

test.each([1, 4, 12, 23])(
  'when truncation leaves %i characters of a secret, none is shown, in any encoding',
  (left) => {
    const redact = makeRedactor([SECRET]);
    for (const form of [SECRET, base64(SECRET), codes((code) => `\\u00${code}`), codes((code) => `%${code}`)]) {
      const { text } = redact(`${'x'.repeat(5_000)}${form.slice(0, left)}`, true);
      expect(text).toMatch(/^x+$/);
      expect(text.length).toBeGreaterThan(4_000);
    }
  },
);

test('a secret that crosses the end of the shown part of a truncated text is one mark', () => {
  const { text } = makeRedactor([SECRET])(`${'x'.repeat(5_000)}${`${SECRET} `.repeat(30)}`, true);
  expect(text).toMatch(/^x+(\[credential\] )*(\[credential\])?$/);
});

test.each([
  ['plain text', 'word '],
  ['line ends of JSON', '\\n'],
  ['percent escapes', '%41'],
  ['backslashes', '\\'],
  ['the secret', `${SECRET} `],
  ['the beginning of the secret', SECRET.slice(0, -1)],
])('a megabyte of %s costs a bounded time', (_, piece) => {
  const redact = makeRedactor([SECRET, 'a'.repeat(200)]);
  const text = piece.repeat(Math.ceil(1_048_576 / piece.length));
  expect(cpuMsOf(() => redact(text, true))).toBeLessThan(5_000);
});
