// Texts that leave the installation lose known secrets and whatever has the form of one, however hostile they are.
import { expect, test } from 'vitest';
import { makeBlot } from '../../../src/outbound/secrets/blot.ts';

const blot = makeBlot(['house-secret-1']);

test.each([
  ['errand_abcd1234_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', '[removed]'],
  ['login eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln done', 'login [removed] done'],
  ['whsec_Y2FuYXJ5LXdlYmhvb2s', '[removed]'],
  ['see /files/k1.cGF5bG9hZA.c2ln/report.md', 'see /files/[removed]/report.md'],
  ['https://x/share/p/abcdefghijklmnop', 'https://x/share/p/[removed]'],
  ['sk-abcdefghijklmnop', '[removed]'],
  ['-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY----- after', '[removed] after'],
  ['Authorization: Bearer abc.def-ghi', 'Authorization: [removed] [removed]'],
  ['postgres://user:word@host/db', 'postgres://[removed]host/db'],
  ['https://x/?state=1&access_token=abc#d', 'https://x/?state=1&access_token=[removed]#d'],
  ['{"refresh_token":"abcdef","n":1}', '{"refresh_token":"[removed]","n":1}'],
  ['{\\"password\\":\\"abcdef\\"}', '{\\"password\\":\\"[removed]\\"}'],
  ['the house-secret-1 is out', 'the [credential] is out'],
  [Buffer.from('house-secret-1').toString('base64'), '[credential]='],
])('%s', (text, blotted) => {
  expect(blot(text)).toBe(blotted);
});

test.each(['"input_tokens": 12', '{"max_tokens":null}', 'tokens of the tide'])('no secret: %s', (text) => {
  expect(blot(text)).toBe(text);
});

test.each([
  ['It is tok_of-another/1.', 'It is [credential]'],
  ['X-Key=tok_of-another/1; next', '[credential]; next'],
  ['{"a":"tok_of-another/1"}', '{"a":"[credential]"}'],
  ['tok_of-another/12', 'tok_of-another/12'],
])('among any number of others, as a word: %s', (text, blotted) => {
  expect(makeBlot([], new Set(['tok_of-another/1']))(text)).toBe(blotted);
});

// A pattern that reads on to the end from every start would take minutes.
test.each(['?', '&', 'token', '...x', '-eyJ', 'eyJaaaaaaaa', '://', 'bearer ', 'key-', '-----BEGIN ', '/files/a.'])(
  'many times %j take a moment',
  (piece) => {
    const text = piece.repeat(Math.ceil(200_000 / piece.length));
    expect(blot(text)).not.toBe('');
    expect(makeBlot([], new Set(['other']))(text)).not.toBe('');
  },
);
