// How many unknown keys and codes one address may name.
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { ErrandError, notFound } from '../../../src/domain/errors.ts';
import { makeMissLimit } from '../../../src/http/public/miss-limit.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { publishedFixture } from '../../support/http/published-fixture.ts';

const UNKNOWN = `/api/v1/public/shares/${'0'.repeat(22)}`;

test('after 60 unknown codes in a minute, nothing is looked up for the rest of it', {
  tags: ['F8-misses'],
}, async () => {
  const { site, send, clock } = await publishedFixture();
  const { base, key } = await site({ '/index.html': 'x' });
  for (let i = 0; i < 60; i += 1) expect((await send(i % 2 === 0 ? UNKNOWN : `${UNKNOWN}x`)).status).toBe(404);
  for (const path of [UNKNOWN, base, `${base}/content`, `/api/v1/public/publishes/${key}`]) {
    const got = await send(path);
    expect([path, got.status, got.headers['retry-after']]).toEqual([path, 429, '60']);
  }
  // The board names nothing, and owners have a credential.
  expect((await send('/api/v1/public/publishes')).status).toBe(200);
  clock.advance(59_000);
  expect((await send(base)).headers['retry-after']).toBe('1');
  clock.advance(1_000);
  expect((await send(base)).status).toBe(200);
});

test('a file that a share lacks, and a share that has ended, don’t count as guesses', {
  tags: ['F8-misses'],
}, async () => {
  const { site, send, store } = await publishedFixture();
  const [{ base }, ended] = [await site({ '/index.html': 'x' }), await site({ '/index.html': 'x' })];
  await store.shares.withdraw(ended.shareCode);
  for (let i = 0; i < 40; i += 1) {
    expect((await send(`${base}/assets/missing-${i}.png`)).status).toBe(404);
    expect((await send(`${base}/assets/%00`)).status).toBe(404);
    expect((await send(`${base}/media`)).status).toBe(404);
    expect((await send(ended.base)).status).toBe(404);
  }
  expect((await send(base)).status).toBe(200);
});

test('the operator is not limited', async () => {
  const { send } = await publishedFixture();
  for (let i = 0; i < 61; i += 1) expect((await send(UNKNOWN, { via: 'socket' })).status).toBe(404);
});

/** A limit whose requests name their address. */
function makeFixture(maxAddresses?: number) {
  const clock = fakeClock();
  const limit = makeMissLimit({
    clock,
    clientAddressOf: (req) => String(req.headers.from),
    ...(maxAddresses !== undefined && { maxAddresses }),
  });
  const from = (address: string) => ({ headers: { from: address }, socket: {} }) as unknown as IncomingMessage;
  const look = async (address: string, thrown: unknown) =>
    limit(from(address), async () => {
      throw thrown;
    }).catch((error: ErrandError) => error.reason);
  return { clock, limit, from, miss: async (address: string) => look(address, notFound('Share')), look };
}

test('each address has its own misses, and a network of IPv6 has them together', async () => {
  const { miss } = makeFixture();
  for (let i = 0; i < 60; i += 1) await miss(`2001:db8:0:1::${i}`);
  for (let i = 0; i < 60; i += 1) await miss('192.0.2.1');
  expect(await miss('2001:db8:0:1::ffff')).toBe('rate_limited');
  expect(await miss('2001:db8:0:2::1')).toBe('not_found');
  expect(await miss('192.0.2.1')).toBe('rate_limited');
  expect(await miss('192.0.2.2')).toBe('not_found');
});

test('other errors and what is found do not count', async () => {
  const { look, limit, from } = makeFixture();
  for (let i = 0; i < 100; i += 1) {
    await look('192.0.2.1', new Error('broken'));
    await look('192.0.2.1', new ErrandError('bad_request', 'No.'));
    expect(await limit(from('192.0.2.1'), async () => i)).toBe(i);
  }
  expect(await look('192.0.2.1', notFound('Share'))).toBe('not_found');
});

test('no more addresses are remembered than the limit, the latest of them', async () => {
  const { clock, miss } = makeFixture(3);
  const exhaust = async (address: string) => {
    for (let i = 0; i < 60; i += 1) await miss(address);
  };
  await exhaust('192.0.2.1');
  clock.advance(1);
  for (const last of [2, 3]) await miss(`192.0.2.${last}`);
  expect(await miss('192.0.2.1')).toBe('rate_limited');
  await miss('192.0.2.4');
  expect(await miss('192.0.2.1')).toBe('not_found');
});
