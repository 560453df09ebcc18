import Connection from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import type { Run } from '../../src/domain/run.ts';
import type { ClaimedRun } from '../../src/store/claim-runs.ts';
import { aStep, aTurn, BACKGROUND_ORDER, fenceOf, FREE, type StoreHouse, storeHouse } from '../support/store-house.ts';

/** Tables that grow for as long as the daemon is used. */
const GROWING =
  /^SCAN (runs|r|events|messages|m|sessions|s|steps|tool_calls|c|compactions|attachments|a|user_inputs|q|insights|i|run_artifacts|p|run_artifact_files|f|workspace_files|w|workspace_exports|screenshots|document_texts)$/;

test('no statement of a turn reads a growing table from end to end', async () => {
  const statements = new Set<string>();
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: never, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql) as never;
  });
  const house = await storeHouse();
  const { runs } = house.store;
  const background = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9 } };
  await runs.accept({ ...aTurn(house.user, house.key), background, idempotencyKey: 'b' });
  await runs.expireQueued(1_000);
  const first = await house.accept({ idempotencyKey: 'a' });
  await house.accept({ sessionId: first.sessionId, idempotencyKey: 'c' });
  for (const run of await house.claim(3)) {
    const fence = fenceOf(run);
    await runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 0 } }]);
    await runs.recordStep(fence, aStep({ calls: [{ id: 'x', name: 'shell', input: {} }] }), FREE);
    const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: '', durationMs: 1 };
    await runs.recordToolResult(fence, result);
    await runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await runs.settle(fence);
    await runs.getOutcome(run.seq);
  }
  const claims = await runs.claim({ limit: 1, leaseMs: 1, background: BACKGROUND_ORDER, modelFor: () => 'm' });
  for (const { run } of claims) await runs.interrupt(fenceOf(run), 'crash');
  runs.anyClaimable();
  runs.oldestQueuedAt();
  await runs.renewLeases([1], 60_000);
  await runs.rescue();
  await runs.countUnfinished();
  await runs.find(first.id);
  await runs.findBackground(house.key.seq, 'b');
  const { user, key } = house;
  await runs.findSubmitted({ user, key, sessionId: null, idempotencyKey: 'a', background: null });
  await runs.findSubmitted({ user, key, sessionId: first.sessionId, idempotencyKey: 'c', background: null });
  await runs.queuePosition(first.seq);
  await house.store.turns.get(first.seq, 2);
  await house.store.turns.listBefore(first.sessionSeq, first.seq + 1, { characters: 1_000 });
  await house.store.turns.nextBlockIndex(first.seq);
  await house.store.compactions.findNewest(first.sessionSeq);
  await house.store.sessions.find(first.sessionId);
  await house.store.sessions.listMessages(first.sessionSeq);
  house.store.events.listOfRun(first.seq, 0, 10);
  await house.store.documents.keep('a', { text: 'b' });
  await house.store.documents.find('a');
  await tryQuestions(house);
  await tryArtifacts(house, first);
  spy.mockRestore();

  const connection = new Connection(house.file, { readonly: true });
  const scans = [...statements]
    .filter((sql) => /^\s*(SELECT|UPDATE|DELETE|WITH)/i.test(sql))
    .flatMap((sql) => {
      const parameters = Array.from({ length: sql.split('?').length - 1 }, () => null);
      const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[];
      return plan.filter(({ detail }) => GROWING.test(detail)).map(({ detail }) => `${detail}: ${sql}`);
    });
  connection.close();
  expect(statements.size).toBeGreaterThan(30);
  expect(scans).toEqual([]);
});

/** Keeps and finds a picture of a run that is under way. */
async function tryPictures({ store }: StoreHouse, run: ClaimedRun): Promise<void> {
  await store.screenshots.keep(fenceOf(run), { toolUseId: 'x', sha256: 'a', mimeType: 'image/jpeg', size: 1 });
  await store.screenshots.find(run.sessionSeq, 'x');
}

/** Every statement of questions and insights. Lists of everybody's are read from their newest end. */
async function tryQuestions(house: StoreHouse): Promise<void> {
  const { runs, userInputs, insights } = house.store;
  await house.accept();
  const [run] = await house.claim();
  await tryPictures(house, run!);
  const fence = fenceOf(run!);
  const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1 };
  const insight = { callId: 'i', title: 't', summary: 's', priority: 'low' } as const;
  const insightId = await insights.report(fence, insight);
  await insights.setStatus(insightId!, 'resolved', 'user');
  await insights.find(insightId!);
  await runs.waitForUser(fence, question);
  const page = { userSeq: run!.sessionSeq, sessionSeq: run!.sessionSeq, limit: 9, offset: 0 };
  for (const sessionSeq of [null, run!.sessionSeq]) {
    const { items } = await userInputs.list({ ...page, sessionSeq, status: 'pending' });
    for (const { id } of items) await userInputs.answer(id, 'x');
    await insights.list({ ...page, sessionSeq, status: 'new' });
  }
  await userInputs.expire('none');
  await userInputs.expireDue();
  await userInputs.find('none');
  await userInputs.listSettled(run!.seq);
  userInputs.nextExpiryAt();
}

/** Asks for everything that is kept of what runs made. */
async function tryArtifacts({ store }: StoreHouse, run: Run): Promise<void> {
  const { artifacts, sessions } = store;
  const place = { sessionSeq: run.sessionSeq, runSeq: run.seq };
  const files = [{ path: '/a', size: 1, sha256: 'a' }];
  await artifacts.keepBaseline({ ...place, attempt: 1 }, files);
  artifacts.hasWorkspaceFiles(run.sessionSeq);
  artifacts.isAfterUncollected(run.sessionSeq, run.seq);
  artifacts.nextUncollected(run.sessionSeq);
  await artifacts.recordArtifacts(run.seq, { files, skipped: {} });
  artifacts.nextPacking(run.sessionSeq);
  artifacts.listRunFiles(run.seq);
  artifacts.listWorkspaceFiles(run.sessionSeq);
  await artifacts.finishArtifacts(run.seq, { key: 'b', size: 1 });
  await artifacts.finishExport(run.sessionSeq, run.seq, { key: 'c', size: 1 });
  await artifacts.failArtifacts(run.seq, '');
  await artifacts.failExport(run.sessionSeq, run.seq, '');
  await artifacts.failCollection(run.seq, '');
  artifacts.listSessionsToCollect();
  await artifacts.getRunArtifacts(run.seq);
  await artifacts.getWorkspaceArtifacts(run.sessionSeq);
  sessions.isBlobInUse('a');
  await sessions.listBlobs(run.sessionSeq);
  await sessions.deleteSession(run.sessionSeq);
  await sessions.finishCleanup(run.sessionSeq);
}
