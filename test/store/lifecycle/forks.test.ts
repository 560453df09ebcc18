// Forks in the store (M2): what they begin with, where their files come from, and that nothing of it is lost or changed.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FileVersion } from '../../../src/domain/sessions/artifact.ts';
import type { NewTurn } from '../../../src/store/lifecycle/accept-run.ts';
import type { ForkCommit } from '../../../src/store/lifecycle/fork-session.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { makeCopiedWorkspaces } from '../../../src/store/artifacts/copied-workspaces.ts';
import { openRows } from '../../support/store/open-store.ts';
import { workspaceOf } from '../../support/store/read-whole.ts';
import {
  aStep,
  aTurn,
  fenceOf,
  FREE,
  START,
  type StoreFixture,
  storeFixture,
} from '../../support/store/store-fixture.ts';

const HERE = START.node;
const BUDGET = { characters: 1e6, bytes: 1e6, documentBytes: 100 };
const file = (path: string, content = path): FileVersion => ({ path, size: content.length, sha256: content });

let fixture: StoreFixture;

beforeEach(async () => {
  fixture = await storeFixture();
});

const says = (text: string) => ({ content: [{ type: 'text', text }] as const, preview: text });

async function begin(text: string, turn: Partial<NewTurn> = {}): Promise<ClaimedRun> {
  const { seq } = await fixture.accept({ ...says(text), ...turn });
  return (await fixture.claim(9)).find((run) => run.seq === seq)!;
}

/** A run that answers a text with the same in capitals. */
async function turn(text: string, sessionId: string | null = null): Promise<ClaimedRun> {
  const run = await begin(text, { sessionId });
  return end(run, text);
}

async function end(run: ClaimedRun, text: string): Promise<ClaimedRun> {
  const { runs } = fixture.store;
  await runs.recordStep(fenceOf(run), aStep({ text: text.toUpperCase() }), FREE);
  await runs.finalize(fenceOf(run), { outcome: 'completed', answer: text.toUpperCase(), stopReason: 'end_turn' });
  await runs.settle(fenceOf(run));
  return run;
}

/** Turns of one session. */
async function conversation(...texts: readonly string[]): Promise<ClaimedRun[]> {
  const runs: ClaimedRun[] = [];
  for (const text of texts) runs.push(await turn(text, runs[0]?.sessionId));
  return runs;
}

async function forkOf({ sessionSeq }: ClaimedRun, at?: { readonly id: string }) {
  const commit = await fixture.store.sessions.forkSession({ sessionSeq, runId: at?.id ?? null }, 0);
  if (commit.kind !== 'forked') throw new Error(commit.kind);
  const { runId, workspace } = commit.fork;
  return {
    sessionSeq: commit.session.seq,
    sessionId: commit.session.id,
    ofSession: commit.fork.sessionId,
    runId,
    workspace,
  };
}

const kindOf = async (commit: Promise<ForkCommit>) => (await commit).kind;

/** What was said before a run that would come next, as its agent reads it, and as readers do. */
async function saidIn(sessionSeq: number): Promise<string> {
  const { turns, history } = fixture.store;
  const { turns: earlier } = await turns.listHistory(sessionSeq, Number.MAX_SAFE_INTEGER, BUDGET);
  const read = earlier.map(({ user, steps }) => [user, steps.map((step) => step.text)]);
  const sizes = await history.listSizesAfter(sessionSeq, 0);
  expect((await history.listSizesBefore(sessionSeq, Number.MAX_SAFE_INTEGER)).toReversed()).toEqual(sizes);
  const messages = sizes.length === 0 ? [] : await history.listMessages(sessionSeq, sizes[0]!.id, sizes.at(-1)!.id);
  expect(messages.map(({ id }) => id)).toEqual(sizes.map(({ id }) => id));
  const previews = messages.map(({ textPreview }) => textPreview).join(' ');
  expect(
    read
      .flat(3)
      .map((block) => (typeof block === 'string' ? block : (block as { text: string }).text))
      .join(' '),
  ).toBe(previews);
  return previews;
}

test('a fork begins with what was said up to a run, shows where it is from, and changes nothing there', {
  tags: ['M2-history'],
}, async () => {
  const runs = await conversation('one', 'two', 'three');
  const before = await fixture.store.sessions.find(runs[0]!.sessionId);
  const fork = await forkOf(runs[0]!, runs[1]);
  expect(await saidIn(fork.sessionSeq)).toBe('one ONE two TWO');
  expect(await fixture.store.sessions.find(fork.sessionId)).toMatchObject({
    originSession: runs[0]!.sessionId,
    originRun: runs[1]!.id,
    status: 'completed',
    keyId: fixture.key.id,
  });
  await turn('other', fork.sessionId);
  expect(await saidIn(fork.sessionSeq)).toBe('one ONE two TWO other OTHER');
  expect(await saidIn(runs[0]!.sessionSeq)).toBe('one ONE two TWO three THREE');
  expect(await fixture.store.sessions.find(runs[0]!.sessionId)).toEqual(before);
});

test('what it has cost, and how much it has, begins at nothing', { tags: ['M2-history'] }, async () => {
  const [first] = await conversation('one');
  const fork = await forkOf(first!);
  expect(await fixture.store.office.getSummary(fork.sessionSeq)).toMatchObject({ runCount: 0, costUsd: 0 });
});

test('without a run, it is the newest that has ended; one that has not can be none', {
  tags: ['M2-history'],
}, async () => {
  const [first] = await conversation('one');
  const running = await begin('two', { sessionId: first!.sessionId });
  const { forkSession } = fixture.store.sessions;
  const fork = await forkOf(first!);
  expect([fork.runId, await saidIn(fork.sessionSeq)]).toEqual([first!.id, 'one ONE']);
  expect(await kindOf(forkSession({ sessionSeq: first!.sessionSeq, runId: running.id }, 0))).toBe('unfinished');
  const alone = await begin('only');
  expect(await kindOf(forkSession({ sessionSeq: alone.sessionSeq, runId: null }, 0))).toBe('no_run');
  await end(running, 'two');
  expect(await saidIn(fork.sessionSeq)).toBe('one ONE');
});

test('a run of another conversation, and one of nobody, are equally unknown', { tags: ['M2-rights'] }, async () => {
  const [first, second] = await conversation('one', 'two');
  const [other] = await conversation('three');
  const fork = await forkOf(first!, first);
  const { forkSession } = fixture.store.sessions;
  for (const runId of [other!.id, second!.id, 'none'])
    expect(await kindOf(forkSession({ sessionSeq: fork.sessionSeq, runId }, 0))).toBe('unknown_run');
  await fixture.store.sessions.deleteSession(other!.sessionSeq);
  expect(await kindOf(forkSession({ sessionSeq: other!.sessionSeq, runId: null }, 0))).toBe('gone');
});

test('a fork of a fork begins with all of both; at a run of the first session it is a fork of that', {
  tags: ['M2-history'],
}, async () => {
  const [first, second] = await conversation('one', 'two');
  const fork = await forkOf(first!, second);
  const own = await turn('three', fork.sessionId);
  await turn('four', fork.sessionId);
  const deep = await forkOf(own, own);
  expect(await saidIn(deep.sessionSeq)).toBe('one ONE two TWO three THREE');
  const back = await forkOf(own, first);
  expect([back.ofSession, back.runId]).toEqual([first!.sessionId, first!.id]);
  expect(await saidIn(back.sessionSeq)).toBe('one ONE');
  const again = await forkOf({ ...own, sessionSeq: back.sessionSeq });
  expect([again.runId, await saidIn(again.sessionSeq)]).toEqual([first!.id, 'one ONE']);
});

test('turns are read in pages across what a fork begins with, as many as fit', { tags: ['M2-history'] }, async () => {
  const runs = await conversation(...Array.from({ length: 20 }, (_, at) => `t${at}`));
  const fork = await forkOf(runs[0]!, runs[11]);
  for (const text of ['x', 'y', 'z']) await turn(text, fork.sessionId);
  const whole = Array.from({ length: 12 }, (_, at) => `t${at} T${at}`).join(' ');
  expect(await saidIn(fork.sessionSeq)).toBe(`${whole} x X y Y z Z`);
  const { turns } = fixture.store;
  const cut = await turns.listHistory(fork.sessionSeq, Number.MAX_SAFE_INTEGER, { ...BUDGET, characters: 300 });
  expect(cut.isCut).toBe(true);
  expect(cut.turns.length).toBeGreaterThan(3);
  expect(cut.turns.length).toBeLessThan(15);
  const since = { ...BUDGET, fromRunSeq: runs[10]!.seq };
  expect((await turns.listHistory(fork.sessionSeq, Number.MAX_SAFE_INTEGER, since)).turns).toHaveLength(5);
});

test('a summary of the conversation stands for its older part in a fork as well, but none that was made later', {
  tags: ['M2-history'],
}, async () => {
  const [first] = await conversation('one');
  const { compactions } = fixture.store;
  const summarised = await begin('two', { sessionId: first!.sessionId });
  await compactions.record(fenceOf(summarised), { step: 0, summary: 'early', characters: 1 });
  await end(summarised, 'two');
  const later = await begin('three', { sessionId: first!.sessionId });
  await compactions.record(fenceOf(later), { step: 0, summary: 'late', characters: 1 });
  await end(later, 'three');
  const fork = await forkOf(first!, summarised);
  expect(await compactions.findNewest(fork.sessionSeq)).toMatchObject({ summary: 'early', runSeq: summarised.seq });
  const earlier = await forkOf(first!, first);
  expect(await compactions.findNewest(earlier.sessionSeq)).toBeUndefined();
});

async function erase(sessionSeq: number): Promise<string[]> {
  const { erasures } = fixture.store;
  for (let after: number | null = 0; after !== null; ) after = await erasures.eraseRuns(sessionSeq, after);
  while (await erasures.eraseSession(sessionSeq));
  const blobs: string[] = [];
  for (let keys: readonly string[] | null = []; keys !== null; keys = await erasures.finishCleanup(sessionSeq))
    blobs.push(...keys);
  return blobs;
}

const attached = (id: string) => ({
  id,
  name: `${id}.txt`,
  path: `attachments/${id}/${id}.txt`,
  mimeType: 'text/plain',
  size: 1,
  sha256: `of ${id}`,
});

test('when its session is deleted, a fork keeps what it begins with; the rest goes, and that with the last fork', {
  tags: ['M2-deletion'],
}, async () => {
  const { sessions } = fixture.store;
  const first = await end(await begin('one', { attachments: [attached('a')] }), 'one');
  const summarised = await begin('two', { sessionId: first.sessionId, attachments: [attached('b')] });
  await fixture.store.compactions.record(fenceOf(summarised), { step: 0, summary: 'all of it', characters: 1 });
  const second = await end(summarised, 'two');
  const whole = await forkOf(first, second);
  const fork = await forkOf(first, first);
  const own = await turn('three', fork.sessionId);
  const deep = await forkOf(own);
  await sessions.deleteSession(first.sessionSeq);
  expect(await erase(first.sessionSeq)).toEqual([]);
  expect(await fixture.store.compactions.findNewest(whole.sessionSeq)).toMatchObject({ summary: 'all of it' });
  await sessions.deleteSession(whole.sessionSeq);
  await erase(whole.sessionSeq);
  expect(await erase(first.sessionSeq)).toEqual(['of b']);
  expect(fixture.rows('SELECT summary FROM compactions')).toEqual([]);
  expect(await saidIn(fork.sessionSeq)).toBe('one ONE three THREE');
  expect(fixture.rows(`SELECT content FROM messages WHERE run_seq = ${second.seq} AND role = 'user'`)).toEqual([
    { content: '[]' },
  ]);
  expect(await sessions.findAttachment(fixture.user.seq, attached('a').path)).toMatchObject({ sha256: 'of a' });
  expect(await sessions.findAttachment(fixture.user.seq, attached('b').path)).toBeUndefined();
  await sessions.deleteSession(fork.sessionSeq);
  expect(await erase(fork.sessionSeq)).toEqual([]);
  expect(await saidIn(deep.sessionSeq)).toBe('one ONE three THREE');
  await sessions.deleteSession(deep.sessionSeq);
  await erase(deep.sessionSeq);
  const left = await sessions.listCleanups(0, 9);
  expect(left.map(({ sessionSeq }) => sessionSeq)).toEqual([first.sessionSeq, fork.sessionSeq]);
  expect(await erase(first.sessionSeq)).toEqual(['of a']);
  await erase(fork.sessionSeq);
  expect(await sessions.listCleanups(0, 9)).toEqual([]);
  expect(fixture.rows("SELECT content FROM messages WHERE role = 'user' AND content <> '[]'")).toEqual([]);
});

const recorded = (
  run: ClaimedRun,
  found: { readonly files?: readonly FileVersion[]; readonly gone?: readonly string[] },
) =>
  fixture.store.artifacts.recordArtifacts(
    run.seq,
    { files: [], skipped: {}, token: `after ${run.seq}`, ...found },
    HERE,
  );

/** Lists the files of a fork, a few a commit, and returns them. */
async function filesOf(sessionSeq: number, atOnce = 2): Promise<string[]> {
  const database = openRows(fixture.file, fixture.clock);
  onTestFinished(() => database.close());
  const { copyWorkspace } = makeCopiedWorkspaces(database, { atOnce });
  for (;;) {
    const { kind } = await copyWorkspace(sessionSeq);
    if (kind === 'waits') throw new Error(kind);
    if (kind === 'done') break;
  }
  return (await workspaceOf(fixture.store.artifacts, sessionSeq)).files.map(({ path, sha256 }) => `${path} ${sha256}`);
}

/** A session whose three runs change files: after which of them, and what there is then. */
async function withFiles() {
  const [first, second, third] = await conversation('one', 'two', 'three');
  await recorded(first!, { files: [file('/a', 'a1'), file('/b'), file('/c', 'c1')] });
  await recorded(second!, { files: [file('/a', 'a2'), file('/d', 'd2')], gone: ['/b'] });
  await recorded(third!, { files: [file('/a', 'a3'), file('/b', 'b3'), file('/e')], gone: ['/c', '/d'] });
  return [
    [first!, ['/a a1', '/b /b', '/c c1']],
    [second!, ['/a a2', '/c c1', '/d d2']],
    [third!, ['/a a3', '/b b3', '/e /e']],
  ] as const;
}

test('a fork has the files that there were after its run, however often they have changed since', {
  tags: ['M2-workspace'],
}, async () => {
  for (const [run, files] of await withFiles()) {
    const fork = await forkOf(run, run);
    expect(fork.workspace).toBe('as_of_run');
    expect(await filesOf(fork.sessionSeq)).toEqual(files);
    expect(fixture.rows(`SELECT workspace_bytes FROM session_totals WHERE session_seq = ${fork.sessionSeq}`)).toEqual([
      { workspace_bytes: files.reduce((sum, one) => sum + one.split(' ')[1]!.length, 0) },
    ]);
  }
});

test('files of a run that changes very many are listed in parts, whatever their names', {
  tags: ['M2-workspace'],
}, async () => {
  const long = (name: string) => `/${'d'.repeat(200)}/${`${name}/`.repeat(700)}x`;
  const files = ['a', 'b', 'c', 'd', 'e'].map((name) => file(long(name), name));
  const [first, second] = await conversation('one', 'two');
  await recorded(first!, { files });
  await recorded(second!, { files: [file('/new')], gone: files.map(({ path }) => path) });
  const fork = await forkOf(first!, first);
  expect((await filesOf(fork.sessionSeq)).map((one) => one.at(-1))).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('runs of its session may change files while they are listed, and before they are known they are waited for', {
  tags: ['M2-workspace'],
}, async () => {
  const [[first], [second, files], [third]] = await withFiles();
  const fork = await forkOf(first, second);
  const fourth = await turn('four', first.sessionId);
  const { copyWorkspace } = fixture.store.artifacts;
  const late = await forkOf(first);
  expect(await copyWorkspace(late.sessionSeq)).toMatchObject({
    kind: 'waits',
    sessionSeq: first.sessionSeq,
    atRun: fourth.seq,
  });
  const database = openRows(fixture.file, fixture.clock);
  onTestFinished(() => database.close());
  await makeCopiedWorkspaces(database, { atOnce: 1 }).copyWorkspace(fork.sessionSeq);
  await recorded(fourth, { files: [file('/c', 'c4'), file('/f')], gone: ['/a', '/e'] });
  expect(await filesOf(fork.sessionSeq)).toEqual(files);
  expect(await filesOf(late.sessionSeq)).toEqual(['/b b3', '/c c4', '/f /f']);
  expect(third.sessionSeq).toBe(first.sessionSeq);
});

test('files of which it is not known what they were are those of now, and the fork says so', {
  tags: ['M2-workspace'],
}, async () => {
  const [[first], [second, files], [third, now]] = await withFiles();
  // As a version of before has left them, until the second run.
  fixture.change(`UPDATE workspaces SET kept_from = ${second.seq} WHERE session_seq = ${first.sessionSeq}`);
  const early = await forkOf(first, first);
  expect([early.workspace, await filesOf(early.sessionSeq)]).toEqual(['as_it_is', now]);
  const known = await forkOf(first, second);
  expect([known.workspace, await filesOf(known.sessionSeq)]).toEqual(['as_of_run', files]);
  fixture.change(`UPDATE workspaces SET kept_from = NULL WHERE session_seq = ${first.sessionSeq}`);
  expect((await forkOf(first, second)).workspace).toBe('as_it_is');
  expect((await forkOf(first, third)).workspace).toBe('as_of_run');
});

test('what was attached to runs that have changed nothing is there, though nobody had looked then', {
  tags: ['M2-workspace'],
}, async () => {
  const first = await end(await begin('one', { attachments: [attached('a')] }), 'one');
  await recorded(first, { files: [file('/uploads/a.txt', 'of a')] });
  const reader = await end(await begin('two', { sessionId: first.sessionId, attachments: [attached('b')] }), 'two');
  fixture.change(`UPDATE runs SET artifact_status = 'ready' WHERE seq = ${reader.seq}`);
  const both = ['/uploads/a.txt of a', '/uploads/b.txt of b'];
  expect(await filesOf((await forkOf(first)).sessionSeq)).toEqual(both);
  const third = await begin('three', { sessionId: first.sessionId });
  await fixture.store.artifacts.keepBaseline(
    fenceOf(third),
    { files: [file('/uploads/b.txt', 'of b')], token: 'x' },
    HERE,
  );
  await end(third, 'three');
  await recorded(third, { files: [], gone: ['/uploads/b.txt'] });
  expect(await filesOf((await forkOf(first, reader)).sessionSeq)).toEqual(both);
  expect(await filesOf((await forkOf(first, third)).sessionSeq)).toEqual(['/uploads/a.txt of a']);
});

test('the contents of files that were replaced are kept as long as the session, and those of a fork as long as it', {
  tags: ['M2-deletion'],
}, async () => {
  const [[first]] = await withFiles();
  const { sessions } = fixture.store;
  const fork = await forkOf(first, first);
  expect(await filesOf(fork.sessionSeq)).toHaveLength(3);
  await sessions.deleteSession(first.sessionSeq);
  await erase(first.sessionSeq);
  expect(fixture.rows('SELECT path FROM earlier_files')).toEqual([]);
  expect([await sessions.isBlobInUse('a1'), await sessions.isBlobInUse('a2')]).toEqual([true, false]);
  expect(await kindOf(sessions.forkSession({ sessionSeq: fork.sessionSeq, runId: null }, 0))).toBe('forked');
});

const after = (run: ClaimedRun, given: Partial<NewTurn> = {}) =>
  fixture.store.runs.accept({
    ...aTurn(fixture.user, fixture.key),
    ...says('again'),
    sessionId: run.sessionId,
    sessionSeq: run.sessionSeq,
    afterRunSeq: run.seq,
    ...given,
  });

test('a turn behind an older run forks the session there, in the commit that accepts it', {
  tags: ['M2-turn'],
}, async () => {
  const [first, second] = await conversation('one', 'two');
  const forked = await after(first!);
  if (forked.kind !== 'accepted') throw new Error(forked.kind);
  expect(forked.session).toMatchObject({ originSession: first!.sessionId, originRun: first!.id, status: 'pending' });
  const [run] = await fixture.claim();
  expect(run).toMatchObject({ seq: forked.run.seq, opensSession: false });
  expect(await saidIn(forked.session.seq)).toBe('one ONE again');
  const continued = await after(second!);
  expect(continued).toMatchObject({ kind: 'accepted', session: { id: first!.sessionId } });
});

test('of two turns behind the same run at once, one continues the session and the other forks it', {
  tags: ['M2-turn'],
}, async () => {
  const [first] = await conversation('one');
  const both = await Promise.all([after(first!), after(first!)]);
  const sessions = both.map((one) => (one.kind === 'accepted' ? one.session.id : one.kind));
  expect(sessions.filter((id) => id === first!.sessionId)).toHaveLength(1);
  expect(new Set(sessions).size).toBe(2);
});

test('a run that has not ended is the end of no fork', { tags: ['M2-turn'] }, async () => {
  const running = await begin('one');
  await fixture.accept({ sessionId: running.sessionId });
  expect(await after(running)).toEqual({ kind: 'unfinished' });
  expect(fixture.rows('SELECT seq FROM sessions')).toHaveLength(1);
});

test('a repeated request finds its fork', { tags: ['M2-turn'] }, async () => {
  const [first] = await conversation('one', 'two');
  const once = await after(first!, { idempotencyKey: 'k' });
  const twice = await after(first!, { idempotencyKey: 'k' });
  expect(twice).toMatchObject({ kind: 'replayed', run: { id: 'run' in once && once.run.id } });
  expect(fixture.rows('SELECT seq FROM sessions')).toHaveLength(2);
});

test('a repeated request finds its fork also when more of its conversation is known by then', {
  tags: ['M1-repeated'],
}, async () => {
  const [first, second] = await conversation('one', 'two');
  const given = { idempotencyKey: 'k', conversation: { clientName: null, isThrowAway: false, history: null } };
  const once = await after(first!, given);
  expect(await after(second!, given)).toMatchObject({ kind: 'replayed', run: { id: 'run' in once && once.run.id } });
  // Of a response that is named, each key is one of its session (D4).
  expect(await after(second!, { idempotencyKey: 'k' })).toMatchObject({ kind: 'accepted' });
});
