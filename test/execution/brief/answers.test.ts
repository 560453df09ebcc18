// What a run that waited gets when it continues: its answers, and its remaining time.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NO_EQUIPMENT } from '../../../src/agent/port/grants.ts';
import { type BuildBrief, makeBuildBrief } from '../../../src/execution/brief/brief.ts';
import { openBlobsInFiles } from '../../support/files/blobs-in-files.ts';
import { makeWorkspaces } from '../../../src/files/workspaces.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { GIVEN } from './resolved-model.ts';

const HOUR_MS = 3_600_000;
async function briefsOf({ store }: StoreFixture): Promise<BuildBrief> {
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(join(directory, 'blobs'));
  return makeBuildBrief({
    store,
    workspaces: makeWorkspaces({ directory, blobs, owner: null }),
    sandbox: () => null,
    documents: { textsOf: async () => ({}) },
    equip: async () => ({ ok: true, outfit: { instructions: '', tools: [], equipment: NO_EQUIPMENT } }),
    settings: () => SETTINGS,
  });
}

/** Lets the fixture's run ask, wait an hour and a half and continue; returns its brief. */
async function resumed(fixture: StoreFixture, toolUseId: string, settle: (id: string) => Promise<boolean>) {
  const [run] = await fixture.claim();
  const question = { toolUseId, toolName: 'ask_user', toolInput: {}, lifetimeMs: 9 * HOUR_MS };
  await fixture.store.runs.waitForUser(fenceOf(run!), question);
  fixture.clock.advance(1.5 * HOUR_MS);
  const all = { userSeq: null, keySeq: null, sessionSeq: null, status: 'pending', limit: 1, offset: 0 } as const;
  const { items } = await fixture.store.userInputs.list(all);
  expect(await settle(items[0]!.id)).toBe(true);
}

test('the answers of a run are returned by call, as texts; an unanswered question is reported', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const { userInputs } = fixture.store;
  await resumed(fixture, 'text', (id) => userInputs.answer(id, 'red\nor blue'));
  await resumed(fixture, 'form', (id) => userInputs.answer(id, { colour: ['red', 2] }));
  await resumed(fixture, 'empty', (id) => userInputs.answer(id, ''));
  await resumed(fixture, 'none', (id) => userInputs.expire(id));
  const [run] = await fixture.claim();
  const built = await (await briefsOf(fixture))(run!, GIVEN);
  expect(built).toMatchObject({
    ok: true,
    brief: {
      attempt: 5,
      answers: {
        text: { ok: true, output: 'red\nor blue' },
        form: { ok: true, output: '{"colour":["red",2]}' },
        empty: { ok: true, output: expect.stringContaining('empty') },
        none: { ok: false, output: expect.stringContaining('did not answer') },
      },
    },
  });
});

test('background runs have more patience with a model server that is down, and ask again for replies that broke off', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  await fixture.accept({
    background: { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 9 } },
  });
  const claimed = [...(await fixture.claim()), ...(await fixture.claim())];
  const build = await briefsOf(fixture);
  const built = await Promise.all(claimed.map((run) => build(run, GIVEN)));
  expect(built).toMatchObject([
    { brief: { limits: { patienceMs: 120_000 } } },
    { brief: { limits: { patienceMs: 1_800_000 } } },
  ]);
});

test('the time that a run waits, for its user or in the queue, does not count toward its time limit; its work does', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  await resumed(fixture, 'one', (id) => fixture.store.userInputs.answer(id, 'red'));
  fixture.clock.advance(2 * HOUR_MS);
  const [before] = await fixture.claim();
  await fixture.store.runs.interrupt(fenceOf(before!, before!.workedMs + 60_000), 'crash');
  fixture.clock.advance(2 * HOUR_MS);
  const [run] = await fixture.claim();
  const built = await (await briefsOf(fixture))(run!, GIVEN);
  expect(built).toMatchObject({
    brief: { limits: { runTimeoutMs: SETTINGS.model.runTimeoutSeconds * 1_000 - 60_000 } },
  });
});
