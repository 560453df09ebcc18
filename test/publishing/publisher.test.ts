// The publisher: versions of scheduled tasks, tried three times, across everything that may happen in between.
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ErrandError } from '../../src/domain/errors.ts';
import { makePublisher, type Publisher } from '../../src/publishing/publisher.ts';
import { openStore } from '../support/store/open-store.ts';
import type { ClaimedRun } from '../../src/store/lifecycle/start-run.ts';
import { loggedLines } from '../support/http/http-fixture.ts';
import { aPage, filesOf, publishFixture, SITE } from '../support/store/publishing.ts';

let fixture: Awaited<ReturnType<typeof publishFixture>>;
let logged: ReturnType<typeof loggedLines>;
let publisher: Publisher;

function start(): Publisher {
  const made = makePublisher({
    store: fixture.store,
    versions: fixture.versions,
    clock: fixture.clock,
    log: logged.log,
  });
  onTestFinished(() => made.stop());
  return made;
}

beforeEach(async () => {
  fixture = await publishFixture();
  logged = loggedLines();
  publisher = start();
});

const createPage = (over = {}) =>
  fixture.store.pages.createPage(aPage(fixture.user.seq, { scheduledTaskId: 't' }, over));
const fire = (firingSeq: number, { sessionSeq, seq }: ClaimedRun) =>
  fixture.enqueue({ taskId: 't', firingSeq, sessionSeq, runSeq: seq });

async function wake(): Promise<void> {
  publisher.wake();
  await publisher.settled();
}

/** Lets time pass a minute at a time, and what is due then end. */
async function pass(ms: number, service = publisher): Promise<void> {
  for (let left = ms; left > 0; left -= 60_000) {
    fixture.clock.advance(Math.min(left, 60_000));
    await service.settled();
  }
}

const events = () => fixture.committed.map(({ type }) => type).filter((type) => type.startsWith('publish_page.'));

test('each page of a task gets a version after a firing', { tags: ['F12'] }, async () => {
  const [one, two] = [await createPage(), await createPage({ entryPath: '/notes.txt' })];
  const run = await fixture.workspace();
  await fire(1, run);
  await wake();
  expect(await fixture.page(one.key)).toMatchObject({ latest: { no: 1, shareType: 'page', fileCount: 3 } });
  expect(await fixture.page(two.key)).toMatchObject({ latest: { no: 1, shareType: 'file', fileCount: 1 } });
  expect(fixture.count('publish_jobs')).toBe(0);
  await fire(2, await fixture.workspace(filesOf('/site/index.html')));
  await wake();
  expect(await fixture.page(one.key)).toMatchObject({ latest: { no: 2, fileCount: 1 }, versionCount: 2 });
  // The second page has no entry in the second workspace, and waits for its next attempt.
  expect(await fixture.page(two.key)).toMatchObject({ latest: { no: 1 } });
  expect([events(), fixture.count('publish_jobs')]).toEqual([Array(3).fill('publish_page.published'), 1]);
});

test('a missing entry is looked for three times in the same workspace; then publishing has failed', {
  tags: ['F12', 'F14'],
}, async () => {
  await createPage({ entryPath: '/report.html' });
  const run = await fixture.workspace();
  await fire(1, run);
  await wake();
  await pass(29_999);
  expect(logged.lines).toHaveLength(1);
  await pass(1);
  expect(logged.lines).toHaveLength(2);
  await pass(120_000);
  expect(events()).toEqual(['publish_page.failed']);
  expect(fixture.committed.at(-1)).toMatchObject({
    payload: {
      job: { attemptCount: 3, maxAttempts: 3, runId: run.id, message: expect.stringMatching(/^entry_path: /) },
    },
  });
  expect(logged.lines.map(({ next }) => next)).toEqual(['retry', 'retry', 'failed']);
  await pass(3_600_000);
  expect(logged.lines).toHaveLength(3);
});

test('an entry that is there at a later attempt is published', { tags: ['F12'] }, async () => {
  const { key } = await createPage({ entryPath: '/report.html' });
  const run = await fixture.workspace();
  await fire(1, run);
  await wake();
  await fixture.workspace([...SITE, ...filesOf('/report.html')], run.sessionId);
  await pass(30_000);
  expect(await fixture.page(key)).toMatchObject({ latest: { no: 1, entryPath: '/report.html' } });
  expect(events()).toEqual(['publish_page.published']);
});

test('the next attempt is for the entry that the page has by then', async () => {
  const { key } = await createPage({ entryPath: '/report.html' });
  await fire(1, await fixture.workspace());
  await wake();
  const { id } = (await fixture.page(key))!;
  await fixture.store.pages.change(id, { entryPath: '/notes.txt' });
  await pass(30_000);
  expect(await fixture.page(key)).toMatchObject({ latest: { entryPath: '/notes.txt' } });
});

test('attempts go on after the daemon was killed in between, and their number is kept', { tags: ['F14'] }, async () => {
  await createPage({ entryPath: '/report.html' });
  await fire(1, await fixture.workspace());
  await wake();
  await pass(30_000);
  await publisher.stop();
  // Nothing is left but the file.
  const store = openStore(fixture.file, fixture.clock);
  onTestFinished(() => store.close());
  const after: string[] = [];
  store.onCommitted((committed) => void after.push(...committed.map(({ type }) => type)));
  const again = makePublisher({ store, versions: fixture.versions, clock: fixture.clock, log: logged.log });
  onTestFinished(() => again.stop());
  again.wake();
  await again.settled();
  expect(after).toEqual([]);
  await pass(120_000, again);
  expect(after).toEqual(['publish_page.failed']);
});

test('a page that is deleted between attempts ends its job without a word', async () => {
  const { key } = await createPage({ entryPath: '/report.html' });
  await fire(1, await fixture.workspace());
  await wake();
  await fixture.store.pages.delete((await fixture.page(key))!.id);
  await pass(30_000);
  expect([events(), fixture.count('publish_jobs'), logged.lines.length]).toEqual([[], 0, 1]);
});

test('waiting for files that are not known yet doesn’t count as an attempt', async () => {
  const { key } = await createPage();
  const run = await fixture.uncollected();
  await fire(1, run);
  await wake();
  publisher.collected(run.sessionSeq + 1);
  await publisher.settled();
  expect(fixture.count('publish_versions')).toBe(0);
  await fixture.store.artifacts.recordArtifacts(run.seq, { files: SITE, skipped: {} });
  publisher.collected(run.sessionSeq);
  await publisher.settled();
  expect(await fixture.page(key)).toMatchObject({ latest: { no: 1 } });
  expect(logged.lines).toMatchObject([{ msg: 'a version was published after a scheduled task', version: 1 }]);
});

test('files that become known during an attempt are published at once', async () => {
  const { key } = await createPage();
  const run = await fixture.uncollected();
  await fire(1, run);
  const { attempt } = fixture.versions;
  vi.spyOn(fixture.versions, 'attempt').mockImplementationOnce(async (...args) => {
    const outcome = await attempt(...args);
    await fixture.store.artifacts.recordArtifacts(run.seq, { files: SITE, skipped: {} });
    publisher.collected(run.sessionSeq);
    return outcome;
  });
  await wake();
  await publisher.settled();
  expect(await fixture.page(key)).toMatchObject({ latest: { no: 1 } });
});

test('files that nobody reported are looked for again after a while', async () => {
  const { key } = await createPage();
  const run = await fixture.uncollected();
  await fire(1, run);
  await wake();
  await fixture.store.artifacts.recordArtifacts(run.seq, { files: SITE, skipped: {} });
  await pass(30_000);
  expect(await fixture.page(key)).toMatchObject({ latest: { no: 1 } });
});

test('storage that refuses doesn’t count as an attempt: it is tried again', async () => {
  const { key } = await createPage();
  await fire(1, await fixture.workspace());
  const refusal = new ErrandError('unavailable', 'The disk is full.');
  vi.spyOn(fixture.store.pages, 'publish').mockRejectedValueOnce(refusal);
  await wake();
  expect(logged.lines).toMatchObject([{ msg: 'versions of scheduled tasks could not be published' }]);
  await pass(1_000);
  expect(await fixture.page(key)).toMatchObject({ latest: { no: 1 } });
});

test('while the disk is almost full, jobs wait without an attempt; they are published within a minute of room', async () => {
  const [one, two] = [await createPage(), await createPage({ entryPath: '/notes.txt' })];
  fixture.setShortage({ words: 'The disk is almost full.' });
  await fire(1, await fixture.workspace());
  await wake();
  await pass(3_600_000);
  expect(fixture.rows('SELECT attempt_count FROM publish_jobs')).toEqual([{ attempt_count: 0 }, { attempt_count: 0 }]);
  expect([events(), fixture.count('publish_versions')]).toEqual([[], 0]);
  fixture.setShortage(null);
  await pass(60_000);
  expect(await fixture.page(one.key)).toMatchObject({ latest: { no: 1 } });
  expect(await fixture.page(two.key)).toMatchObject({ latest: { no: 1 } });
  expect(fixture.count('publish_jobs')).toBe(0);
});

test('hundreds of firings are published one after another, and nothing is left to wake for', async () => {
  const { key } = await createPage();
  const run = await fixture.workspace(filesOf('/site/index.html'));
  for (let firing = 1; firing <= 60; firing += 1) await fire(firing, run);
  await wake();
  expect(await fixture.page(key)).toMatchObject({ versionCount: 60, latest: { no: 60 } });
  expect(await fixture.store.publishJobs.nextAt()).toBeUndefined();
});
