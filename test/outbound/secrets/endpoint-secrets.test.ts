// Which values of an endpoint's definition count as secrets.
import { expect, test } from 'vitest';
import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import { redactorOfEndpoint, secretsOfEndpoint } from '../../../src/outbound/secrets/endpoint-secrets.ts';

test('a short value counts only under the name of a secret, and a dated version never', () => {
  const query = { tenant: 'short', sig: 'abc', token: 'abc1234', 'api-version': '2024-02-15-preview' };
  const extraBody = { effort: 'high', keys: { secret: ['six-ch'] }, since: '2024-02-15-and-a-secret' };
  const found = secretsOfEndpoint({ apiKey: null, extras: { ...NO_EXTRAS, query, extraBody } });
  expect(found.toSorted()).toEqual(['2024-02-15-and-a-secret', 'abc1234', 'six-ch']);
});

test('the password of an address counts without the rest of it', () => {
  const extras = { headers: {}, query: {}, extraBody: { database: 'postgres://mara:open-sesame@db.example/tides' } };
  const redact = redactorOfEndpoint({ apiKey: null, extras });
  expect(redact('No entry for mara with open-sesame at db.example').text).toBe(
    'No entry for mara with [credential] at db.example',
  );
});

test('credentials of a header count without their scheme, and those of Basic decoded', () => {
  const pair = Buffer.from('house:sesame-open').toString('base64');
  const headers = { authorization: `Basic ${pair}`, 'x-other': 'Bearer gateway-token' };
  const redact = redactorOfEndpoint({ apiKey: 'the-key', extras: { ...NO_EXTRAS, headers } });
  expect(redact('the-key, gateway-token and sesame-open').text).toBe('[credential], [credential] and [credential]');
});
