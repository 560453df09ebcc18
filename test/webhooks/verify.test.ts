// Which part of a delivery does not fit.
import { expect, test } from 'vitest';
import { signatureHeaders } from '../../src/webhooks/sign.ts';
import { type Claim, verify } from '../../src/webhooks/verify.ts';

const NOW = Date.parse('2026-03-01T12:00:00.789Z');
const ID = '019c0000-0000-8000-8000-000000000001';
const SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const BODY = Buffer.from('{"a":"é","b":[1,2]}');

const headers = signatureHeaders(
  { eventId: ID, body: BODY, at: NOW },
  { current: SECRET, previous: 'the one before it' },
);
const SERVICE: Claim = {
  body: BODY,
  timestamp: '2026-03-01T12:00:00.789Z',
  signature: headers['X-Service-Signature']!,
  id: null,
  secret: SECRET,
};
const STANDARD: Claim = {
  ...SERVICE,
  timestamp: headers['webhook-timestamp']!,
  signature: headers['webhook-signature']!,
  id: ID,
};

const wrongOf = (claim: Claim, now = NOW) =>
  verify(claim, now)
    .filter(({ ok }) => !ok)
    .map(({ part }) => part);

test.each([
  ['X-Service-Signature', SERVICE],
  ['webhook-signature', STANDARD],
  ['webhook-signature with the previous secret', { ...STANDARD, secret: 'the one before it' }],
])('%s as it was sent fits, up to five minutes later', { tags: ['§6.4-receivers'] }, (_name, claim) => {
  expect(wrongOf(claim)).toEqual([]);
  expect(verify(claim, NOW + 299_000)).toHaveLength(4);
  expect(wrongOf(claim, NOW + 299_000)).toEqual([]);
  expect(wrongOf(claim, NOW - 299_000)).toEqual([]);
});

const WRONG: readonly (readonly [string, Claim, readonly string[]])[] = [
  ['a time without its zone', { ...SERVICE, timestamp: '2026-03-01T12:00:00.789' }, ['timestamp', 'signature']],
  ['a time in seconds', { ...SERVICE, timestamp: STANDARD.timestamp }, ['timestamp', 'signature']],
  ['the same time written otherwise', { ...SERVICE, timestamp: '2026-03-01T12:00:00.7890Z' }, ['signature']],
  ['a time in ISO 8601', { ...STANDARD, timestamp: SERVICE.timestamp }, ['timestamp', 'signature']],
  ['a signature without its prefix', { ...SERVICE, signature: SERVICE.signature.slice(7) }, ['signature form']],
  ['a signature in capitals', { ...SERVICE, signature: SERVICE.signature.toUpperCase() }, ['signature form']],
  ['a signature that was cut', { ...STANDARD, signature: STANDARD.signature.slice(0, -1) }, ['signature form']],
  ['no id', { ...STANDARD, id: null }, ['signature form']],
  ['another id', { ...STANDARD, id: ID.replace('c', 'd') }, ['signature']],
  ['another secret', { ...SERVICE, secret: 'of somebody else' }, ['signature']],
  ['another body', { ...SERVICE, body: Buffer.from('{}') }, ['signature']],
];

test.each(WRONG)('%s', (_name, claim, wrong) => {
  expect(wrongOf(claim)).toEqual(wrong);
});

test.each([
  [301_000, 'old'],
  [-301_000, 'ahead'],
])('%i ms of age are refused, and the signature still fits', { tags: ['§6.4-receivers'] }, (ms, word) => {
  const checks = verify(SERVICE, NOW + ms);
  expect(checks.filter(({ ok }) => !ok)).toEqual([
    { part: 'age', ok: false, detail: expect.stringContaining(`301 s ${word}`) },
  ]);
});

const MISTAKES: readonly (readonly [string, Partial<Claim>, string])[] = [
  ['a shell that adds a line break', { body: Buffer.concat([BODY, Buffer.from('\n')]) }, 'line break at its end that'],
  ['a text file of Windows', { body: Buffer.concat([BODY, Buffer.from('\r\n')]) }, 'line break at its end that'],
  ['a framework that parses', { body: Buffer.from('{ "a": "é", "b": [1, 2] }') }, 'written anew'],
  ['a secret that was padded', { secret: ` ${SECRET} ` }, 'white space'],
  ['a secret that lost its prefix', { secret: SECRET.slice(6) }, 'whsec_'],
  ['none of these', { body: Buffer.from([0xff, 0x00]) }, 'another secret'],
];

test.each(MISTAKES)('%s is recognized', (_name, over, words) => {
  for (const claim of [SERVICE, STANDARD])
    expect(verify({ ...claim, ...over }, NOW).at(-1)).toEqual({
      part: 'signature',
      ok: false,
      detail: expect.stringContaining(words),
    });
});

test('a line break that was signed and lost is recognized', () => {
  const body = Buffer.from('{}\n');
  const signed = signatureHeaders({ eventId: ID, body, at: NOW }, { current: SECRET, previous: null });
  const claim = { ...SERVICE, body: Buffer.from('{}'), signature: signed['X-Service-Signature']! };
  expect(verify(claim, NOW).at(-1)?.detail).toContain('which is missing');
});
