// Watchers: get heartbeats, are disconnected when they do not read, and end with their access or the daemon.
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { Identity } from '../../../src/domain/people/user.ts';
import { makeAuthenticate } from '../../../src/operations/people/authenticate.ts';
import { makeResolveKey } from '../../../src/operations/people/resolve-key.ts';
import { makeKey } from '../../../src/operations/people/secrets.ts';
import { type FakeClock, fakeClock } from '../../support/time/fake-clock.ts';
import { aKey, aUser, type Fixture } from '../../support/http/http-fixture.ts';
import { openOffice, watch } from '../../support/http/watch-office.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Asks for a stream on a bare connection, whose bytes are read when the test wants. */
function ask(fixture: Fixture, path: string, headers = ''): Socket {
  const socket = connect(fixture.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-key\r\n${headers}\r\n`);
  return socket;
}

/** Open connections, as the server counts them. */
const connections = (fixture: Fixture) =>
  new Promise<number>((resolve, reject) =>
    fixture.tcp.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

/** A minute in which the daemon gets to everything that is due. */
async function aMinute(clock: FakeClock): Promise<void> {
  for (let second = 0; second < 60; second += 1) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a heartbeat comes after fifteen silent seconds, not before', { tags: ['G9'] }, async () => {
  const clock = fakeClock();
  const { fixture, session, say } = await openOffice({ parts: { clock } });
  const stream = await watch(fixture, `${session}/stream?replay=true`);
  await stream.ids(2);
  clock.advance(14_000);
  await say('a');
  expect(await stream.ids(1)).toEqual([3]);
  clock.advance(14_000);
  await say('b');
  expect(await stream.ids(1)).toEqual([4]);
  clock.advance(15_000);
  expect(await stream.next()).toMatchObject({ id: null, data: null, comment: 'heartbeat' });
  clock.advance(15_000);
  expect(await stream.next()).toMatchObject({ comment: 'heartbeat' });
});

test('an administrator who loses the role loses the stream within a minute; others keep theirs', {
  tags: ['G10'],
}, async () => {
  const clock = fakeClock();
  const lost = new Set<string>();
  const authenticate = async (credential: string | null): Promise<Identity> => {
    if (credential === 'revoked' && lost.has('revoked')) throw new ErrandError('unauthenticated', 'No.');
    const role = credential === 'demoted' && lost.has('demoted') ? 'user' : 'admin';
    return { kind: 'key', user: aUser({ role }), key: aKey({ scope: 'admin' }) };
  };
  const { fixture, session, say } = await openOffice({ parts: { clock }, operations: { authenticate } });
  const open = (as: string) => watch(fixture, `${session}/stream?replay=true`, { authorization: `Bearer ${as}` });
  const streams = { demoted: await open('demoted'), revoked: await open('revoked'), kept: await open('kept') };
  for (const { ids } of Object.values(streams)) await ids(2);
  lost.add('demoted').add('revoked');
  await aMinute(clock);
  const rest = async ({ next }: typeof streams.kept) => {
    for (;;) {
      const event = await next();
      if (event?.comment !== 'heartbeat') return event;
    }
  };
  expect(await rest(streams.demoted)).toBeUndefined();
  expect(await rest(streams.revoked)).toBeUndefined();
  await say('on');
  expect(await rest(streams.kept)).toMatchObject({ id: '3' });
});

test('a role taken, a key revoked or an account disabled in the store ends the stream, and the key opens no other', {
  tags: ['G10'],
}, async () => {
  const clock = fakeClock();
  let authenticate: ReturnType<typeof makeAuthenticate> | undefined;
  const { fixture, session, store, say } = await openOffice({
    parts: { clock },
    operations: { authenticate: (...credential) => authenticate!(...credential) },
  });
  const resolveToken = () => Promise.reject(new Error('There are no tokens.'));
  const actAs = () => Promise.reject(new Error('Nobody acts as another.'));
  authenticate = makeAuthenticate({ resolveKey: makeResolveKey({ store, clock: fakeClock() }), resolveToken, actAs });
  const administrator = async (username: string) => {
    const nobody = {
      fullName: '',
      department: '',
      functionalRole: null,
      scenario: null,
      passwordHash: 'x',
      teamId: null,
    };
    const { seq: userSeq } = await store.users.create({ ...nobody, username, role: 'admin' });
    const { text, ...secret } = makeKey();
    const named = { name: '', scope: 'admin' as const, model: null, target: 'free', projectId: null, expiresAt: null };
    await store.keys.create({ ...secret, ...named, userSeq });
    const authorization = { authorization: `Bearer ${text}` };
    return {
      id: secret.id,
      authorization,
      stream: await watch(fixture, `${session}/stream?replay=true`, authorization),
    };
  };
  const [demoted, revoked, disabled, kept] = [
    await administrator('demoted'),
    await administrator('revoked'),
    await administrator('disabled'),
    await administrator('kept'),
  ];
  for (const { stream } of [demoted, revoked, disabled, kept]) await stream.ids(2);
  await store.users.change('demoted', { role: 'user' });
  await store.keys.revoke(revoked.id);
  await store.users.change('disabled', { disabled: true });
  const readToEnd = async ({ next }: typeof kept.stream) => {
    let event = await next();
    while (event?.comment === 'heartbeat') event = await next();
    return event;
  };
  await aMinute(clock);
  for (const [{ stream, authorization }, status] of [
    [demoted, 403],
    [revoked, 401],
    [disabled, 403],
  ] as const) {
    expect(await readToEnd(stream)).toBeUndefined();
    expect((await fetch(`${fixture.url}${session}/stream`, { headers: authorization })).status).toBe(status);
  }
  await say('on');
  expect(await readToEnd(kept.stream)).toMatchObject({ id: '3' });
});

test('a drain ends all streams, and those that come during it', { tags: ['G16'] }, async () => {
  const { fixture, session } = await openOffice();
  const stream = await watch(fixture, `${session}/stream?replay=true`);
  await stream.ids(2);
  fixture.drain.abort();
  expect(await stream.next()).toBeUndefined();
  expect(await (await watch(fixture, `${session}/stream?replay=true`)).next()).toBeUndefined();
});

test('a watcher that reads nothing is dropped at 1 MB, and resumes without a gap', { tags: ['G9'] }, async () => {
  const { fixture, session, say } = await openOffice();
  const reading = await watch(fixture, `${session}/stream?after_id=2`);
  const socket = ask(fixture, `${session}/stream?after_id=2`);
  await new Promise((resolve) => socket.once('readable', resolve));
  const text = 'x'.repeat(64 * 1024);
  let said = 2;
  while ((await connections(fixture)) === 2) {
    await say(text);
    said += 1;
    expect(await reading.ids(1)).toEqual([said]);
    // The sockets of the system buffer little more than the limit.
    expect(said).toBeLessThan(1_000);
  }
  expect(said * text.length).toBeGreaterThan(1024 * 1024);
  const back = await watch(fixture, `${session}/stream`, { 'last-event-id': '2' });
  expect(await back.ids(said - 2)).toEqual(Array.from({ length: said - 2 }, (_, at) => at + 3));
});

test('a watcher that reads nothing for thirty seconds is dropped, one that reads slowly is not', {
  tags: ['G9'],
}, async () => {
  const clock = fakeClock();
  const { fixture, session, say } = await openOffice({ parts: { clock } });
  await say(...Array.from({ length: 400 }, () => 'x'.repeat(32 * 1024)));
  const [still, slow] = [1, 2].map(() => ask(fixture, `${session}/stream?replay=true`));
  await new Promise((resolve) => still!.once('readable', resolve));
  await new Promise((resolve) => slow!.once('readable', resolve));
  for (let second = 0; second < 40; second += 1) {
    clock.advance(1_000);
    // Some of it, then nothing for a second.
    for (let taken = 0; taken < 256 * 1024; ) {
      const chunk = slow!.read() as Buffer | null;
      taken += chunk?.length ?? 0;
      if (chunk === null) await new Promise((resolve) => slow!.once('readable', resolve));
    }
  }
  await waitFor(async () => (await connections(fixture)) === 1);
  slow!.destroy();
});

test('a thousand watchers that come and go leave nothing behind', { tags: ['G9'] }, async () => {
  const { fixture, session, say, run } = await openOffice();
  const paths = [
    `${session}/stream?replay=true`,
    `${session}/run-events/stream?run_id=${run.id}`,
    '/api/v1/office-mode/stream',
  ];
  for (let round = 0; round < 10; round += 1) {
    const sockets = Array.from({ length: 100 }, (_, at) => ask(fixture, paths[at % paths.length]!));
    const begun = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
    await Promise.all(begun);
    await say(String(round));
    for (const [at, socket] of sockets.entries()) {
      if (at % 2 === 0) socket.destroy();
      else socket.end();
    }
  }
  await waitFor(async () => (await connections(fixture)) === 0);
  await say('on');
});
