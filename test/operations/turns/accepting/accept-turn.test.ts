import { readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NO_DEFINITIONS } from '../../../../src/catalog/definitions.ts';
import { lookUpNow } from '../../../../src/domain/capabilities/look-up.ts';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { Settings } from '../../../../src/domain/settings.ts';
import type { KeyCaller } from '../../../../src/domain/people/user.ts';
import { SMALL_BLOB_BYTES } from '../../../../src/domain/sessions/contents.ts';
import { openBlobStore } from '../../../../src/files/blobs/blobs.ts';
import { makeAccess } from '../../../../src/operations/access.ts';
import { makeLog } from '../../../../src/log/log.ts';
import { makeAcceptTurn } from '../../../../src/operations/turns/accepting/accept-turn.ts';
import { makeSessionSetup } from '../../../../src/operations/turns/accepting/session-setup.ts';
import type { InputBlock, TurnInput } from '../../../../src/operations/turns/turn.ts';
import type { StartInput } from '../../../../src/store/lifecycle/start-run.ts';
import { SETTINGS } from '../../../support/http/http-fixture.ts';
import { aTurn, storeFixture } from '../../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const upload = (text: string): InputBlock => ({
  type: 'upload',
  media: 'file',
  name: 'data.csv',
  mimeType: 'text/csv',
  bytes: { size: text.length, pieces: () => [Buffer.from(text)] },
});

interface Given {
  readonly start?: StartInput | null;
  readonly workspace?: Settings['workspace'];
  readonly kept?: () => Promise<void>;
  /** Looks at the nodes, all of which drain by what was seen before. Returns whether they still do. */
  readonly look?: () => Promise<boolean>;
}

async function fixture({ start = null, workspace = SETTINGS.workspace, kept, look }: Given = {}) {
  let allDrain = look !== undefined;
  const stores = await storeFixture();
  const lines: string[] = [];
  const directory = join(temporaryDirectory(), 'blobs');
  const acceptTurn = makeAcceptTurn({
    store: { ...stores.store, durable: kept ?? stores.store.durable },
    access: makeAccess(stores.store),
    blobs: await openBlobStore(directory, stores.store.smallBlobs),
    disk: { shortage: () => null },
    queue: { admit: (accept) => accept(start) },
    node: {
      onlineCapacity: () => 5,
      allDrain: () => allDrain,
      look: async () => void (allDrain = (await look?.()) ?? false),
    },
    schemas: { check: async () => null },
    settings: () => ({ ...SETTINGS, workspace }),
    fetchImages: async () => undefined,
    makeSetup: makeSessionSetup({ store: stores.store, definitions: () => NO_DEFINITIONS, lookUp: lookUpNow }),
    clock: stores.clock,
    log: makeLog({ level: 'info' }, { write: (line) => void lines.push(line) }),
    closing: () => false,
  });
  const caller: KeyCaller = { kind: 'key', reach: 'key', user: stores.user, key: stores.key };
  const accept = (content: readonly InputBlock[], over: Partial<TurnInput> = {}) =>
    acceptTurn(
      caller,
      {
        protocol: 'messages',
        model: 'errand',
        content,
        sessionId: null,
        offeredSession: null,
        idempotencyKey: null,
        background: null,
        outputSchema: null,
        resultInContent: false,
        resultTool: null,
        schemaField: null,
        response: null,
        includeUsage: false,
        ...over,
      },
      { takeRoom: () => undefined },
    );
  /** Of blobs, whether they are rows or files. */
  const files = () =>
    readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length +
    stores.rows('SELECT key FROM small_blobs').length;
  return { ...stores, accept, files, lines };
}

test('before a turn is refused since all nodes drain, the nodes are looked at once more', {
  tags: ['L8'],
}, async () => {
  const again = await fixture({ look: async () => false });
  expect(await again.accept([{ type: 'text', text: 'hello' }])).toMatchObject({ replayed: false });
  const still = await fixture({ look: async () => true });
  await expect(still.accept([{ type: 'text', text: 'hello' }])).rejects.toThrow('every node drains');
});

test("X-Session-Id continues a session of the key; any other is somebody else's id, ignored and logged once", {
  tags: ['M1-header'],
}, async () => {
  const { accept, makeKey, store, user, lines } = await fixture();
  const { run } = await accept([{ type: 'text', text: 'hello' }]);
  const key = await makeKey();
  const other = await store.runs.accept(aTurn(user, key));
  const offers = [
    run.sessionId,
    run.sessionId.toUpperCase(),
    'ses_7f3a',
    UNKNOWN,
    'run' in other ? other.run.sessionId : '',
    '',
  ];
  const sessions: string[] = [];
  for (const offeredSession of offers)
    sessions.push((await accept([{ type: 'text', text: 'and now?' }], { offeredSession })).run.sessionId);
  expect(sessions.map((id) => id === run.sessionId)).toEqual([true, true, false, false, false, false]);
  expect(new Set(sessions).size).toBe(5);
  expect(lines.filter((line) => line.includes('X-Session-Id'))).toHaveLength(1);
  await expect(accept([{ type: 'text', text: 'and now?' }], { sessionId: UNKNOWN })).rejects.toMatchObject({
    reason: 'not_found',
  });
});

test('a response is followed in its session, and nothing else is', { tags: ['M3-previous'] }, async () => {
  const { accept, makeKey, store, user } = await fixture();
  const behind = (previousRunId: string | null, over: Partial<TurnInput> = {}) =>
    accept([{ type: 'text', text: 'hello' }], {
      protocol: 'responses',
      response: { metadata: {}, previousRunId, format: null, isStored: true },
      ...over,
    });
  const { run: first } = await behind(null);
  const { run: second } = await behind(first.id, { offeredSession: UNKNOWN });
  expect(second.sessionId).toBe(first.sessionId);
  // An older one forks its session, once it has ended.
  await expect(behind(first.id)).rejects.toMatchObject({ reason: 'conflict' });
  expect((await behind(second.id, { sessionId: first.sessionId })).run.sessionId).toBe(first.sessionId);
  const { run: chat } = await accept([{ type: 'text', text: 'hello' }], { protocol: 'chat' });
  const other = await store.runs.accept({
    ...aTurn(user, await makeKey()),
    protocol: 'responses',
    response: { metadata: {}, previousRunId: null, format: null, isStored: true },
  });
  await expect(behind(second.id, { sessionId: chat.sessionId })).rejects.toMatchObject({ reason: 'unprocessable' });
  await expect(behind(chat.id)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(behind(UNKNOWN)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(behind('run' in other ? other.run.id : '')).rejects.toMatchObject({ reason: 'forbidden' });
  await store.sessions.deleteSession(first.sessionSeq);
  await expect(behind(second.id)).rejects.toMatchObject({ reason: 'not_found' });
});

test('what is resent counts as taken where a session begins with it, and not where it is dropped', {
  tags: ['M1-ignored'],
}, async () => {
  const { accept } = await fixture();
  const said = {
    name: null,
    resent: [{ links: [Buffer.alloc(16, 1)], after: 0 }],
    asked: Buffer.alloc(16, 2),
    isSideRequest: false,
  };
  const earlier = [{ role: 'user', text: 'Hi.' }] as const;
  const taken = async (over: Partial<TurnInput>) =>
    (await accept([{ type: 'text', text: 'hello' }], over)).historyTaken;
  const { run } = await accept([{ type: 'text', text: 'hello' }]);
  expect(await taken({ conversation: { ...said, earlier } })).toBe(true);
  expect(await taken({ conversation: { ...said, earlier: [], isSideRequest: true } })).toBe(false);
  expect(await taken({ conversation: { ...said, earlier }, sessionId: run.sessionId })).toBe(false);
  expect(await taken({})).toBe(false);
});

const UNKNOWN = '0198c0de-0000-7000-8000-0000000000ff';

const BACKGROUND = { background: { payload: null }, idempotencyKey: 'job' };

test('a text is put together in one turn of the event loop and committed in a later one', async () => {
  const loops: Record<string, number> = {};
  const note = (what: string) => (loops[what] = performance.nodeTiming.uvMetricsInfo.loopCount);
  const modelFor = () => {
    note('committed');
    return null;
  };
  const { accept } = await fixture({ start: { node: 'here', leaseMs: 1, modelFor } });
  const toJSON = () => {
    note('made');
    return { type: 'text', text: 'Tell me.' };
  };
  // As what was read from a file ends: what is due at once comes in the same turn of the loop.
  await stat('.');
  await accept([{ type: 'text', text: 'Tell me.', toJSON } as InputBlock]);
  expect(loops['committed']).toBeGreaterThan(loops['made']!);
});

test('a turn is answered once it is on the disk, though its run may have begun before', {
  tags: ['D7-acceptance'],
}, async () => {
  const { promise: synced, resolve: sync } = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const { accept } = await fixture({
    start: { node: 'here', leaseMs: 1, modelFor: () => (started.resolve(), null) },
    kept: () => synced,
  });
  let isAnswered = false;
  const answer = accept([{ type: 'text', text: 'hello' }]).then(() => (isAnswered = true));
  await started.promise;
  await nextTurn();
  await nextTurn();
  expect(isAnswered).toBe(false);
  sync();
  await answer;
});

test('a turn that the disk failed to keep is refused', { tags: ['D7-acceptance'] }, async () => {
  const { accept } = await fixture({ kept: () => Promise.reject(new ErrandError('unavailable', 'lost')) });
  await expect(accept([{ type: 'text', text: 'hello' }])).rejects.toMatchObject({ reason: 'unavailable' });
});

const SIZES = [
  ['a small file', 'a,b'],
  ['a large file', 'a,'.repeat(SMALL_BLOB_BYTES)],
] as const;

test.each(SIZES)('an accepted turn keeps the bytes of its attachments: %s', async (_, text) => {
  const { accept, files } = await fixture();
  await accept([upload(text)]);
  expect(files()).toBe(1);
});

test.each(SIZES)('a turn that is refused in the accepting transaction leaves no file behind: %s', async (_, text) => {
  const { accept, files } = await fixture();
  const { run } = await accept([{ type: 'text', text: 'hello' }]);
  const refused = accept([upload(text)], { ...BACKGROUND, sessionId: run.sessionId });
  await expect(refused).rejects.toMatchObject({ reason: 'conflict' });
  expect(files()).toBe(0);
});

test.each(SIZES)(
  'a turn that names an unknown attachment leaves nothing of its own uploads behind: %s',
  async (_, text) => {
    const { accept, files } = await fixture();
    const unknown: InputBlock = { type: 'stored', media: 'file', name: null, path: 'attachments/none/none.txt' };
    await expect(accept([upload(text), unknown])).rejects.toMatchObject({ reason: 'not_found' });
    expect(files()).toBe(0);
  },
);

test.each(SIZES)('a repeated turn adds no file, and what an accepted one refers to stays: %s', async (_, text) => {
  const { accept, files } = await fixture();
  const first = await accept([upload(text)], { idempotencyKey: 'once' });
  const again = await accept([upload(text), upload(`${text}c`)], { idempotencyKey: 'once' });
  expect([again.replayed, again.run.id]).toEqual([true, first.run.id]);
  expect(files()).toBe(1);
  const refused = accept([upload(text)], { ...BACKGROUND, sessionId: first.run.sessionId });
  await expect(refused).rejects.toMatchObject({ reason: 'conflict' });
  expect(files()).toBe(1);
});

test('a key of the other protocol is a conflict, and what came with it leaves nothing behind', async () => {
  const { accept, files } = await fixture();
  const address: InputBlock = { type: 'address', media: 'image', name: null, url: 'http://a.example/', field: 'url' };
  for (const [protocol, other] of [
    ['messages', 'chat'],
    ['chat', 'messages'],
  ] as const) {
    const idempotencyKey = `of ${protocol}`;
    const first = await accept([{ type: 'text', text: 'once' }], { protocol, idempotencyKey });
    for (const block of [upload('a,b'), address])
      await expect(accept([block], { protocol: other, idempotencyKey })).rejects.toMatchObject({ reason: 'conflict' });
    expect((await accept([upload('a,b')], { protocol, idempotencyKey })).run.id).toBe(first.run.id);
  }
  expect(files()).toBe(0);
});

test('a user over the quota of space is told how much is used, and leaves no file behind', async () => {
  const { accept, files, change } = await fixture({
    workspace: { quotaMb: 2048, userQuotaMb: 2, stickySeconds: 10, checkpoint: 'run' },
  });
  change('UPDATE users SET workspace_bytes = 2097153');
  await expect(accept([upload('x')])).rejects.toMatchObject({
    reason: 'too_large',
    message: 'The files in the sessions of this user take 3 MB, and the limit is 2 MB. Deleting sessions frees space.',
  });
  expect(files()).toBe(0);
  change('UPDATE users SET workspace_bytes = 2097152');
  expect(await accept([upload('x')])).toMatchObject({ replayed: false });
});

test.each([
  ['day', 20_000.4, { retryAfterSeconds: 21, noRetry: true }, / It renews at /],
  ['day', 0.4, { retryAfterSeconds: 1, noRetry: true }, / It renews at /],
  ['all', 0, { retryAfterSeconds: null, noRetry: true }, / It does not renew\.$/],
] as const)(
  'a turn over a budget by %s says when it renews, in whole seconds',
  async (period, leftMs, details, words) => {
    const { store, user, clock, accept } = await fixture();
    const payer = { keySeq: null, userSeq: user.seq, teamId: null };
    const terms = { subject: 'user', unit: 'tokens', timeZone: 'UTC', limit: 0, payer } as const;
    const { renewsAt } = await store.budgets.set({ ...terms, period }, clock.now);
    if (renewsAt !== null) clock.jump(renewsAt - leftMs - clock.now());
    await expect(accept([])).rejects.toMatchObject({
      reason: 'rate_limited',
      details,
      message: expect.stringMatching(words),
    });
  },
);
