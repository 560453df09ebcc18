// Jobs of automatic publishing: one for each page of a task, three attempts, and what ends them.
import { beforeEach, expect, test } from 'vitest';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { aPage, filesOf, publishFixture } from '../../support/store/publishing.ts';

let fixture: Awaited<ReturnType<typeof publishFixture>>;
let run: ClaimedRun;

beforeEach(async () => {
  fixture = await publishFixture();
  run = await fixture.workspace();
});

const ofTask = (over = {}) => fixture.store.pages.createPage(aPage(fixture.user.seq, { scheduledTaskId: 't' }, over));
const enqueue = (firingSeq: number, { sessionSeq, seq }: ClaimedRun = run) =>
  fixture.enqueue({ taskId: 't', firingSeq, sessionSeq, runSeq: seq });
const due = () => fixture.store.publishJobs.listDue(fixture.clock.now(), 9);

test('a firing makes one job for each page of its task, once', async () => {
  const [one, two] = [await ofTask(), await ofTask({ name: 'Other', entryPath: '/notes.txt' })];
  await fixture.store.pages.createPage(aPage(fixture.user.seq, { scheduledTaskId: 'another' }));
  const { id } = (await fixture.page((await ofTask()).key))!;
  await fixture.store.pages.delete(id);
  await enqueue(1);
  await enqueue(1);
  expect(await due()).toMatchObject([
    { pageKey: one.key, sessionSeq: run.sessionSeq, entryPath: '/site/index.html' },
    { pageKey: two.key, sessionSeq: run.sessionSeq, entryPath: '/notes.txt' },
  ]);
});

test('three attempts: at once, after 30 s and after 2 minutes; then it has failed, with its event', async () => {
  const { key } = await ofTask();
  await enqueue(1);
  const [job] = await due();
  const { publishJobs } = fixture.store;
  expect(await publishJobs.fail(job!.id, 'one')).toBe('retry');
  expect(await publishJobs.nextAt()).toBe(fixture.clock.now() + 30_000);
  fixture.clock.advance(29_999);
  expect(await due()).toEqual([]);
  fixture.clock.advance(1);
  expect(await due()).toHaveLength(1);
  expect(await publishJobs.fail(job!.id, 'two')).toBe('retry');
  expect(await publishJobs.nextAt()).toBe(fixture.clock.now() + 120_000);
  fixture.clock.advance(120_000);
  expect(await publishJobs.fail(job!.id, 'three')).toBe('failed');
  expect([await due(), await publishJobs.nextAt()]).toEqual([[], undefined]);
  const page = (await fixture.page(key))!;
  expect(fixture.committed.at(-1)).toMatchObject({
    type: 'publish_page.failed',
    sessionSeq: run.sessionSeq,
    runSeq: null,
    payload: {
      page: { id: page.id, name: 'Tides', key },
      job: {
        id: String(job!.id),
        runId: run.id,
        scheduledTaskId: 't',
        attemptCount: 3,
        maxAttempts: 3,
        message: 'three',
      },
    },
  });
  expect(fixture.committed.filter(({ type }) => type === 'publish_page.failed')).toHaveLength(1);
});

test('a job is settled by the commit that publishes its version, so that there is no second version', async () => {
  await ofTask();
  await enqueue(1);
  const [job] = await due();
  const source = { sessionSeq: run.sessionSeq, entryPath: job!.entryPath };
  const publication = { page: { id: job!.pageId }, trigger: 'auto', reason: null, jobId: job!.id } as const;
  expect(await fixture.versions.attempt(source, publication)).toMatchObject({ kind: 'published', no: 1 });
  expect(fixture.committed.at(-1)).toMatchObject({
    payload: { version: { trigger: 'auto' }, page: { origin: 'scheduled_task' } },
  });
  await expect(fixture.versions.attempt(source, publication)).rejects.toMatchObject({ reason: 'not_found' });
  expect([await due(), fixture.count('publish_versions')]).toEqual([[], 1]);
});

test.each([
  ['the page', async () => fixture.store.pages.delete((await due())[0]!.pageId)],
  ['the session', async () => fixture.store.sessions.deleteSession(run.sessionSeq)],
])('a job whose page or session was deleted ends without an event: %s', async (_, remove) => {
  await ofTask();
  await enqueue(1);
  const [job] = await due();
  await remove();
  expect(await fixture.store.publishJobs.fail(job!.id, 'gone')).toBe('gone');
  expect(await due()).toEqual([]);
  expect(fixture.committed.map(({ type }) => type)).not.toContain('publish_page.failed');
});

test('a job that waits for files is due when they are known; one that waits for its next attempt is not', async () => {
  await ofTask();
  await enqueue(1);
  const [waiting] = await due();
  await fixture.store.publishJobs.putOff(waiting!.id);
  expect(await due()).toEqual([]);
  expect(await fixture.store.publishJobs.hasten(run.sessionSeq)).toBe(1);
  expect(await due()).toHaveLength(1);
  await fixture.store.publishJobs.fail(waiting!.id, 'no');
  expect(await fixture.store.publishJobs.hasten(run.sessionSeq)).toBe(0);
});

test('a clock that is set back does not keep a job waiting for longer than its pause', async () => {
  await ofTask();
  await enqueue(1);
  const [job] = await due();
  await fixture.store.publishJobs.fail(job!.id, 'no');
  fixture.clock.jump(-86_400_000);
  expect(await due()).toHaveLength(1);
});

test('a manual version of a page of a task is made of the newest firing that has completed', async () => {
  const { key } = await ofTask();
  expect(await fixture.store.pages.findOwned(key)).toMatchObject({ sourceSeq: null });
  const later = await fixture.workspace(filesOf('/site/index.html'));
  await enqueue(1);
  await enqueue(2, later);
  expect(await fixture.store.pages.findOwned(key)).toMatchObject({ sourceSeq: later.sessionSeq });
  expect(await fixture.page(key)).toMatchObject({ sessionId: null, scheduledTaskId: 't' });
});
