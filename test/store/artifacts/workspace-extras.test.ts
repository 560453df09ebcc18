// What a workspace has besides its files: recorded with the look that found it, and nothing of it costs a workspace of plain files.
import Connection from 'better-sqlite3';
import { beforeEach, expect, test, vi } from 'vitest';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { onlyOnSqlite } from '../../support/store/open-store.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const EXTRAS = '[["/a","executable"]]';
const FILES = [{ path: '/a', size: 1, sha256: 'a' }];

let fixture: StoreFixture;

beforeEach(async () => {
  fixture = await storeFixture();
});

const artifacts = () => fixture.store.artifacts;

async function begin(sessionId: string | null = null): Promise<ClaimedRun> {
  await fixture.accept({ sessionId });
  return (await fixture.claim())[0]!;
}

async function end(run: ClaimedRun): Promise<void> {
  await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run));
}

const extrasOf = async ({ sessionSeq }: ClaimedRun) => (await artifacts().findWorkspace(sessionSeq)).extras;

test('they are recorded after a run and before one, and stay until a look finds others', async () => {
  const run = await begin();
  expect(await extrasOf(run)).toBeNull();
  await end(run);
  await artifacts().recordArtifacts(run.seq, { files: FILES, skipped: {}, token: 't', extras: EXTRAS });
  expect(await extrasOf(run)).toBe(EXTRAS);
  const next = await begin(run.sessionId);
  await artifacts().keepBaseline(fenceOf(next), { files: [], token: 'u' });
  expect(await extrasOf(run)).toBe(EXTRAS);
  await artifacts().keepBaseline(fenceOf(next), { files: [], token: 'v', extras: null });
  expect(await extrasOf(run)).toBeNull();
});

test('those of many files come with the last part', async () => {
  const run = await begin();
  await end(run);
  const files = Array.from({ length: 600 }, (_, at) => ({ path: `/${at}`, size: 1, sha256: 'a' }));
  await artifacts().recordArtifacts(run.seq, { files, skipped: {}, token: 't', extras: EXTRAS });
  expect(await extrasOf(run)).toBe(EXTRAS);
});

test('a deleted session has none', async () => {
  const run = await begin();
  await end(run);
  await artifacts().recordArtifacts(run.seq, { files: FILES, skipped: {}, token: 't', extras: EXTRAS });
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  while (await fixture.store.erasures.eraseSession(run.sessionSeq));
  expect(fixture.rows('SELECT 1 FROM workspaces')).toEqual([]);
});

test('a run of plain files has no statement of them', onlyOnSqlite('how it prepares'), async () => {
  const asked: string[] = [];
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: Connection.Database, sql) {
    asked.push(sql);
    return prepare.call(this, sql) as never;
  });
  const record = async (extras: { readonly extras?: string }) => {
    const run = await begin();
    await artifacts().keepBaseline(fenceOf(run), { files: FILES, token: 't' });
    await end(run);
    await artifacts().recordArtifacts(run.seq, { files: FILES, skipped: {}, token: 't', ...extras });
  };
  const ofExtras = () => asked.filter((sql) => sql.includes('SET extras'));
  try {
    await record({});
    expect(ofExtras()).toEqual([]);
    await record({ extras: EXTRAS });
    expect(ofExtras()).toHaveLength(1);
  } finally {
    spy.mockRestore();
  }
});
