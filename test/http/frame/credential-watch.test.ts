import { expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import { makeCredentialWatch, RECHECK_MS } from '../../../src/http/frame/credential-watch.ts';
import { finish, openFixture, send, TURN } from '../../support/http/http-fixture.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { makeSseParser } from '../../support/http/sse.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const revoked = () => new ErrandError('unauthenticated', 'The API key is missing or invalid.');
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a credential is checked twice a minute, and a refusal is reported once', async () => {
  const clock = fakeClock();
  const watch = makeCredentialWatch(clock);
  let [looks, isGood] = [0, true];
  const refusals: string[] = [];
  const admit = async () => {
    looks += 1;
    if (!isGood) throw revoked();
  };
  watch(admit, ({ reason }) => refusals.push(reason));
  clock.advance(RECHECK_MS - 1);
  expect(looks).toBe(0);
  clock.advance(30_001);
  await settled();
  expect([looks, refusals]).toEqual([2, []]);
  isGood = false;
  clock.advance(RECHECK_MS);
  await settled();
  clock.advance(10 * RECHECK_MS);
  await settled();
  expect([looks, refusals]).toEqual([3, ['unauthenticated']]);
});

test('a store that can’t be read causes no refusals', async () => {
  const clock = fakeClock();
  const refusals: string[] = [];
  const broken = [new Error('SQLITE_BUSY'), new ErrandError('unavailable', 'The disk is full.')];
  for (const error of broken)
    makeCredentialWatch(clock)(
      () => Promise.reject(error),
      (why) => refusals.push(why.reason),
    );
  clock.advance(RECHECK_MS);
  await settled();
  expect(refusals).toEqual([]);
});

test('thousands are checked in small parts, all within the minute, and those that have left never', {
  tags: ['G10'],
}, async () => {
  const clock = fakeClock();
  const watch = makeCredentialWatch(clock);
  let [looks, timers] = [0, 0];
  const after = clock.after.bind(clock);
  clock.after = (delayMs, callback) => {
    timers += 1;
    return after(delayMs, callback);
  };
  const look = async () => void (looks += 1);
  const ends = Array.from({ length: 5_000 }, () => watch(look, () => undefined));
  expect(timers).toBe(1);
  clock.advance(RECHECK_MS);
  expect(looks).toBe(50);
  clock.advance(1_000);
  expect(looks).toBe(5_000);
  for (const end of ends) end();
  clock.advance(10 * RECHECK_MS);
  expect(looks).toBe(5_000);
});

/** A fixture in which a run waits, and a key that can be revoked. */
async function fixtureWithKey() {
  const clock = fakeClock();
  let refusal: ErrandError | undefined;
  const original = (await openFixture()).parts.operations.authenticate;
  const fixture = await openFixture({
    play: () => undefined,
    parts: { clock },
    operations: {
      authenticate: async (...given) => {
        if (refusal !== undefined) throw refusal;
        return original(...given);
      },
    },
  });
  return { fixture, clock, refuse: (error: ErrandError) => (refusal = error) };
}

test.each([
  ['/openapi/v1/messages', revoked(), 401, 'authentication_error'],
  ['/openapi/v1/chat/completions', new ErrandError('forbidden', 'The owner is disabled.'), 403, 'permission_error'],
])('%s: a stream ends within a minute of the end of its key, with the error; so does a wait', async (...given) => {
  const [path, error, status, type] = given;
  const { fixture, clock, refuse } = await fixtureWithKey();
  const asking = (stream: boolean) =>
    send(fixture, { method: 'POST', path, as: 'conversation-key', body: { ...TURN, stream } });
  const [streaming, waiting] = [asking(true), asking(false)];
  await waitFor(() => fixture.book.runs.length === 2 && fixture.book.waiting() === 1);
  for (let i = 0; i < 12; i += 1) clock.advance(10_000);
  refuse(error);
  for (let i = 0; i < 6; i += 1) {
    clock.advance(10_000);
    await settled();
  }
  const last = makeSseParser()
    .push((await streaming).text)
    .at(-1);
  expect(JSON.parse(last!.data!)).toMatchObject({ error: { type, message: error.message } });
  expect(await waiting).toMatchObject({ status, json: { error: { type, message: error.message } } });
});

test('a stream whose key stays valid continues to its end', async () => {
  const { fixture, clock } = await fixtureWithKey();
  const streaming = send(fixture, {
    method: 'POST',
    path: '/openapi/v1/messages',
    as: 'conversation-key',
    body: { ...TURN, stream: true },
  });
  await waitFor(() => fixture.book.runs.length === 1);
  for (let i = 0; i < 30; i += 1) {
    clock.advance(10_000);
    await settled();
  }
  finish(fixture.book, fixture.book.runs[0]!, 'Hello.');
  expect((await streaming).text).toContain('event: message_stop');
});
