// Runs of the Responses protocol in the store: what they are to which code, where they continue, what goes with them (M3).
import { expect, test } from 'vitest';
import type { ResponseEcho } from '../../../src/domain/sessions/run.ts';
import { aTurn, fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const echo: ResponseEcho = { metadata: { ticket: '7' }, previousRunId: null, format: { type: 'text' }, isStored: true };
const ASKED = { protocol: 'responses', response: echo } as const;

test('a run is one of Responses to code that knows them, and of chat to code of before', {
  tags: ['M3-turn'],
}, async () => {
  const fixture = await storeFixture();
  const { seq, id } = await fixture.accept(ASKED);
  expect(await fixture.store.runs.get(seq)).toMatchObject({ protocol: 'responses', response: echo });
  expect(await fixture.store.runs.find(id)).toMatchObject({ protocol: 'responses', response: echo });
  const { seq: other } = await fixture.accept();
  expect(await fixture.store.runs.get(other)).toMatchObject({ protocol: 'messages', response: null });
  expect(fixture.rows('SELECT protocol FROM runs ORDER BY seq')).toEqual([
    { protocol: 'chat' },
    { protocol: 'messages' },
  ]);
});

test('a result that is the content is told without a block, as in a chat', { tags: ['M3-format'] }, async () => {
  const fixture = await storeFixture();
  await fixture.accept({ ...ASKED, outputSchema: { type: 'object' }, resultInContent: true });
  const [run] = await fixture.claim();
  const ending = { outcome: 'completed', answer: '', stopReason: 'end_turn', structured: { value: { a: 1 } } } as const;
  await fixture.store.runs.end(fenceOf(run!), ending);
  const types = fixture.committed.map(({ type }) => type);
  expect(types).toContain('run.result');
  expect(types).not.toContain('result_block_start');
});

const behind = (fixture: StoreFixture, run: { sessionId: string; seq: number }, key: string | null = null) =>
  fixture.store.runs.accept({
    ...aTurn(fixture.user, fixture.key),
    ...ASKED,
    sessionId: run.sessionId,
    afterRunSeq: run.seq,
    idempotencyKey: key,
  });

test('a repeated request finds its run, though the session has gone on with it', {
  tags: ['M3-previous'],
}, async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept(ASKED);
  const next = await behind(fixture, first, 'again');
  expect(await behind(fixture, first, 'again')).toMatchObject({
    kind: 'replayed',
    run: { id: 'run' in next && next.run.id },
  });
});

test('a session is deleted with its run only while that is its only one', { tags: ['M3-delete'] }, async () => {
  const fixture = await storeFixture();
  const alone = await fixture.accept(ASKED);
  const first = await fixture.accept(ASKED);
  await fixture.accept({ sessionId: first.sessionId });
  const { deleteSessionOfRun } = fixture.store.sessions;
  expect(await deleteSessionOfRun(first)).toEqual({ kind: 'shared' });
  expect(await deleteSessionOfRun(alone)).toMatchObject({ canceled: 1 });
  expect(await deleteSessionOfRun(alone)).toEqual({ kind: 'gone' });
  expect(await fixture.store.runs.find(alone.id)).toBeUndefined();
  expect(await fixture.store.runs.find(first.id)).toMatchObject({ status: 'queued' });
});

test('what a response repeats is erased with its session', { tags: ['M3-delete'] }, async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept(ASKED);
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  while ((await fixture.store.erasures.eraseRuns(run.sessionSeq, 0)) !== null);
  expect(fixture.rows('SELECT response FROM runs')).toEqual([{ response: '{}' }]);
});

test('a session that a turn opens which is not to be stored is thrown away, unless somebody comes back to keep it', {
  tags: ['M3-delete'],
}, async () => {
  const fixture = await storeFixture();
  const thrown = { ...ASKED, response: { ...echo, isStored: false } };
  const isThrownAway = () =>
    fixture.rows<{ throw_away: number }>('SELECT throw_away FROM sessions')[0]!.throw_away === 1;
  const { sessionId } = await fixture.accept(thrown);
  expect(isThrownAway()).toBe(true);
  await fixture.accept({ ...thrown, sessionId });
  expect(isThrownAway()).toBe(true);
  await fixture.accept({ ...ASKED, sessionId });
  expect(isThrownAway()).toBe(false);
  await fixture.accept({ ...thrown, sessionId });
  expect(isThrownAway()).toBe(false);
});
