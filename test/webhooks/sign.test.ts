// Signatures as receivers verify them: with the reference receiver of §6.4, and with the library of Standard Webhooks.
import { randomBytes, subtle, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isoTime } from '../../src/domain/clock.ts';
import { type Signable, signatureHeaders } from '../../src/webhooks/sign.ts';

const NOW = Date.parse('2026-03-01T12:00:00.789Z');
const EVENT_ID = '019c0000-0000-7000-8000-000000000001';

/** Bodies whose bytes are easily changed on the way: by a parser, by a normal form, by a wrong encoding. */
const BODIES = {
  ascii: '{"a":1}',
  'escaped and raw': '{"a":"\\u00e9é"}',
  'both normal forms': '"é é"',
  emoji: '"👩‍👩‍👧‍👦 🇺🇳"',
  'right to left': '"\u202eשלום\u202c"',
  'a byte order mark': '\ufeff{"a":1}',
  'a line separator': '"\u2028"',
  'white space that JSON ignores': ' {\r\n\t"a" : 1.0 }\n',
  'nothing at all': '',
} as const;

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const signable = (body: string, over: Partial<Signable> = {}): Signable => ({
  eventId: EVENT_ID,
  body: Buffer.from(body),
  at: NOW,
  ...over,
});

/** The reference receiver of §6.4, written with another implementation of HMAC than the one under test. */
async function receives(body: Uint8Array, headers: Record<string, string>, secret: string): Promise<boolean> {
  const timestamp = headers['X-Service-Timestamp'] ?? '';
  const skewMs = Math.abs(Date.now() - Date.parse(timestamp));
  if (!(skewMs <= 300_000)) return false;
  const key = await subtle.importKey(
    'raw',
    new TextEncoder().encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
  const expected = Buffer.from(`sha256=${Buffer.from(await subtle.sign('HMAC', key, signed)).toString('hex')}`);
  const given = Buffer.from(headers['X-Service-Signature'] ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const withTimestamp = (headers: Record<string, string>): Record<string, string> => ({
  ...headers,
  'X-Service-Timestamp': isoTime(NOW),
});

const SECRETS = {
  text: 'a secret of text',
  'text beyond ASCII': 'gehëim-密碼-🔑-secret',
  'bytes that Base64 pads': `whsec_${randomBytes(25).toString('base64')}`,
  'bytes that Base64 does not pad': `whsec_${randomBytes(24).toString('base64')}`,
} as const;

test.each(Object.entries(SECRETS))(
  'the reference receiver verifies every body with %s',
  { tags: ['§5-rule-6', '§6.4-algorithm'] },
  async (_, secret) => {
    for (const text of Object.values(BODIES)) {
      const delivery = signable(text);
      const headers = withTimestamp(signatureHeaders(delivery, { current: secret, previous: null }));
      expect(await receives(delivery.body, headers, secret)).toBe(true);
      expect(await receives(Buffer.concat([delivery.body, Buffer.from(' ')]), headers, secret)).toBe(false);
      expect(await receives(delivery.body, headers, `${secret}x`)).toBe(false);
      expect(await receives(delivery.body, { ...headers, 'X-Service-Timestamp': isoTime(NOW + 1) }, secret)).toBe(
        false,
      );
    }
  },
);

/** The library takes a key in Base64, or one whose characters are bytes. */
const verifierOf = (secret: string) =>
  secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: 'raw' });

test.each(Object.entries(SECRETS))(
  'the library of Standard Webhooks verifies every body with %s',
  { tags: ['H4', 'H18'] },
  (_, secret) => {
    const verifier = verifierOf(secret);
    for (const text of Object.values(BODIES)) {
      const headers = signatureHeaders(signable(text), { current: secret, previous: null });
      expect(() => verifier.verify(text, headers, { jsonParse: false })).not.toThrow();
      expect(() => verifier.verify(`${text} `, headers, { jsonParse: false })).toThrow('No matching signature');
      expect(() => verifier.verify(text, { ...headers, 'webhook-id': 'other' }, { jsonParse: false })).toThrow();
    }
  },
);

test('both secrets of a rotation verify, and no other', { tags: ['H4'] }, async () => {
  const [current, previous] = [SECRETS['bytes that Base64 pads'], SECRETS.text];
  const delivery = signable(BODIES.emoji);
  const headers = withTimestamp(signatureHeaders(delivery, { current, previous }));
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const secret of [current, previous])
    expect(verifierOf(secret).verify(BODIES.emoji, headers)).toBe(JSON.parse(BODIES.emoji));
  expect(() => verifierOf('whsec_c29tZXRoaW5nIGVsc2U=').verify(BODIES.emoji, headers)).toThrow('No matching');
  expect(await receives(delivery.body, headers, current)).toBe(true);
  const ofPrevious = { ...headers, 'X-Service-Signature': headers['X-Service-Signature-Previous'] ?? '' };
  expect(await receives(delivery.body, ofPrevious, previous)).toBe(true);
});

test('without a rotation only one secret signs, and without a secret there are no headers of a signature', {
  tags: ['§6.3-headers'],
}, () => {
  const alone = signatureHeaders(signable('{}'), { current: SECRETS.text, previous: null });
  expect(Object.keys(alone)).toEqual(['X-Service-Signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature']);
  expect(alone['webhook-timestamp']).toBe(String(Math.floor(NOW / 1000)));
  expect(signatureHeaders(signable('{}'), null)).toEqual({});
});

test.each(['whsec_', 'whsec_not base64!', 'whsec_A', 'whsec_AAAAA', 'WHSEC_AAAA', 'whsec_AA-_'])(
  'the secret %s, which holds no Base64, is a key as it is',
  { tags: ['H18'] },
  (secret) => {
    const headers = signatureHeaders(signable('{}'), { current: secret, previous: null });
    expect(() => new Webhook(Buffer.from(secret), { format: 'raw' }).verify('{}', headers)).not.toThrow();
  },
);
