// Which calls an agent is told of when its workspace was laid out anew: those that what is recorded is older than.
import { beforeEach, expect, test } from 'vitest';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

let fixture: StoreFixture;
const artifacts = () => fixture.store.artifacts;

beforeEach(async () => {
  fixture = await storeFixture();
});

async function begin(sessionId: string | null = null): Promise<ClaimedRun> {
  await fixture.accept({ sessionId });
  return (await fixture.claim())[0]!;
}

async function end(run: ClaimedRun, untouched = false): Promise<void> {
  await fixture.store.runs.end(
    fenceOf(run),
    { outcome: 'completed', answer: '', stopReason: 'end_turn' },
    { untouched },
  );
}

/** A step of a run with one call, which has begun. */
async function step(run: ClaimedRun, no: number, name = 'write_file', path = `${no}.md`): Promise<void> {
  const calls = [{ id: `c${no}`, name, input: { path } }];
  await fixture.store.runs.recordStep(fenceOf(run), aStep({ step: no, calls }), FREE);
}

const record = (run: ClaimedRun) =>
  artifacts().recordArtifacts(run.seq, {
    files: [{ path: '/a', size: 1, sha256: 'a' }],
    skipped: {},
    token: `${run.seq}`,
  });
const move = (run: ClaimedRun, reading: readonly string[] = ['read_file']) =>
  artifacts().moveWorkspace(fenceOf(run), { here: 'there', reading });

/** The note of a run: after which step, its moment, and its calls. */
async function noted(run: ClaimedRun) {
  const [note] = (await artifacts().listWorkspaceNotes(run.sessionSeq)).filter(({ runSeq }) => runSeq === run.seq);
  if (note === undefined) return undefined;
  const { text } = note;
  return {
    step: note.step,
    asOf: /It is (.*)\. What/.exec(text)![1],
    calls: text.split('\n').filter((line) => line.startsWith('- ')),
  };
}

test('where all is recorded, there is nothing to say', async () => {
  const first = await begin();
  await step(first, 1);
  await end(first);
  await record(first);
  expect(await move(await begin(first.sessionId))).toBe(false);
});

test('of a first run that goes on elsewhere, nothing is recorded', async () => {
  const run = await begin();
  await step(run, 1);
  await step(run, 2, 'read_file');
  await step(run, 3, 'shell');
  expect(await move(run)).toBe(true);
  expect(await noted(run)).toEqual({
    step: 3,
    asOf: 'empty, except for attached files',
    calls: ['- writes 1.md (step 1)', '- shell (step 3)'],
  });
});

test('of a later run, its baseline is', async () => {
  const first = await begin();
  await step(first, 1);
  await end(first);
  await record(first);
  const run = await begin(first.sessionId);
  await artifacts().keepBaseline(fenceOf(run), { files: [{ path: '/b', size: 1, sha256: 'b' }], token: 'baseline' });
  await step(run, 1);
  expect(await move(run)).toBe(true);
  expect(await noted(run)).toMatchObject({
    asOf: 'as it was before the first change in this turn',
    calls: ['- writes 1.md (step 1)'],
  });
});

test('without a baseline, what the last run has left', async () => {
  const first = await begin();
  await end(first);
  await record(first);
  const run = await begin(first.sessionId);
  await step(run, 1);
  await move(run);
  expect((await noted(run))?.asOf).toMatch(/^as it was when the turn of 20\S+Z ended, at 20\S+Z$/);
});

test('a run whose files were lost is told of in the next one, and one that did nothing is not', async () => {
  const first = await begin();
  await end(first);
  await record(first);
  const lost = await begin(first.sessionId);
  await step(lost, 1, 'write_file', 'lost.md');
  await end(lost);
  await artifacts().failCollection(lost.seq, 'Lost.');
  const quiet = await begin(first.sessionId);
  await step(quiet, 1, 'read_file');
  await end(quiet, true);
  const next = await begin(first.sessionId);
  await move(next);
  expect(await noted(next)).toMatchObject({ step: 0, calls: ['- writes lost.md (an earlier turn, step 1)'] });
});

test('a call that has not begun leaves nothing', async () => {
  const run = await begin();
  const calls = ['a', 'b'].map((id) => ({ id, name: 'write_file', input: { path: id } }));
  await fixture.store.runs.recordStep(fenceOf(run), aStep({ calls }), FREE);
  await move(run);
  expect((await noted(run))?.calls).toEqual(['- writes a (step 1)']);
});

test('of many calls the newest are named', async () => {
  const run = await begin();
  for (let no = 1; no <= 22; no += 1) await step(run, no);
  await move(run);
  const { calls } = (await noted(run))!;
  expect([calls.length, calls[0], calls[1], calls.at(-1)]).toEqual([
    21,
    '- earlier calls',
    '- writes 3.md (step 3)',
    '- writes 22.md (step 22)',
  ]);
});

test('files that an earlier version has recorded are older than the run, whatever was called before', async () => {
  const first = await begin();
  await step(first, 1);
  await end(first);
  await record(first);
  fixture.change('UPDATE workspaces SET as_of_run = NULL');
  const run = await begin(first.sessionId);
  expect(await move(run)).toBe(false);
  await step(run, 1, 'shell');
  await move(run);
  expect((await noted(run))?.calls).toEqual(['- shell (step 1)']);
});

test('an attempt that has lost its run moves nothing', async () => {
  const run = await begin();
  await step(run, 1);
  await end(run);
  expect(await move(run)).toBeUndefined();
  expect(await noted(run)).toBeUndefined();
});

test('a deleted session leaves no notes', async () => {
  const run = await begin();
  await step(run, 1);
  await move(run);
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  while (await fixture.store.erasures.eraseSession(run.sessionSeq));
  expect(fixture.rows('SELECT 1 FROM workspace_notes')).toEqual([]);
});
