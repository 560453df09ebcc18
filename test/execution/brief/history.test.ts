// Which turns and which summary of its session a run gets.
import { expect, test } from 'vitest';
import { historyOf } from '../../../src/execution/brief/history.ts';
import type { UserBlock } from '../../../src/domain/sessions/content.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

/** So much for all turns of a brief. */
const roomOf = (bytes: number) => ({ characters: 1_000_000, bytesFor: () => bytes });
const MUCH = roomOf(1_000_000);

/** Takes one turn of a session to its end, with this many steps. */
async function turn(
  fixture: StoreFixture,
  text: string,
  { sessionId = null as string | null, steps = 1, compactAt = -1 } = {},
) {
  await fixture.accept({ sessionId, content: [{ type: 'text', text }] });
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  for (let step = 1; step <= steps; step += 1) {
    await fixture.store.runs.recordStep(fence, aStep({ step, text: `${text}, step ${step}` }), FREE);
    if (step === compactAt)
      await fixture.store.compactions.record(fence, { step, summary: `to ${text}`, characters: 9 });
  }
  await fixture.store.runs.finalize(fence, { outcome: 'completed', answer: text, stopReason: 'end_turn' });
  await fixture.store.runs.settle(fence);
  return run!;
}

async function claimNext(fixture: StoreFixture, sessionId: string): Promise<ClaimedRun> {
  await fixture.accept({ sessionId, content: [{ type: 'text', text: 'now' }] });
  const [run] = await fixture.claim();
  return run!;
}

const textsOf = (turns: readonly { readonly user: readonly unknown[] }[]) =>
  turns.map(({ user }) => (user[0] as { text: string }).text);

test('the first run of a session has no history', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  expect(await historyOf(fixture.store, run!, MUCH)).toEqual({ compaction: null, turns: [], isCut: false });
});

test('without a summary all turns are given, with what was said, called and answered in each', async () => {
  const fixture = await storeFixture();
  const first = await turn(fixture, 'one');
  await fixture.accept({ sessionId: first.sessionId, content: [{ type: 'text', text: 'two' }] });
  const [run] = await fixture.claim();
  const calls = ['a', 'b'].map((id) => ({ id, name: 'shell', input: { command: id } }));
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
  const result = { step: 1, toolUseId: 'a', name: 'shell', ok: true, output: 'out', durationMs: 1 };
  await fixture.store.runs.recordToolResult(fenceOf(run!), result);
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run!));
  const { compaction, turns } = await historyOf(fixture.store, await claimNext(fixture, first.sessionId), MUCH);
  expect(compaction).toBeNull();
  expect(textsOf(turns)).toEqual(['one', 'two']);
  expect(turns[1]).toEqual(await fixture.store.turns.get(run!.seq, 2));
  expect(turns[1]?.steps[0]?.calls).toMatchObject([
    { id: 'a', state: 'ended', output: 'out' },
    { id: 'b', state: 'running' },
  ]);
});

test('turns are read page by page to the last one, and never those of another session', async () => {
  const fixture = await storeFixture();
  const first = await turn(fixture, 'turn 1');
  await turn(fixture, 'of another session');
  for (let i = 2; i <= 30; i += 1) await turn(fixture, `turn ${i}`, { sessionId: first.sessionId });
  const { turns } = await historyOf(fixture.store, await claimNext(fixture, first.sessionId), MUCH);
  expect(textsOf(turns)).toEqual(Array.from({ length: 30 }, (_, i) => `turn ${i + 1}`));
});

test('a summary replaces the turns before its run and the first steps of it', async () => {
  const fixture = await storeFixture();
  const first = await turn(fixture, 'one');
  await turn(fixture, 'two', { sessionId: first.sessionId, steps: 4, compactAt: 3 });
  await turn(fixture, 'three', { sessionId: first.sessionId });
  const { compaction, turns } = await historyOf(fixture.store, await claimNext(fixture, first.sessionId), MUCH);
  expect(compaction).toEqual({ summary: 'to two', step: 0 });
  expect(textsOf(turns)).toEqual(['two', 'three']);
  expect(turns[0]?.steps.map(({ step }) => step)).toEqual([4]);
});

test('a resumed run builds on its own summary, also in the first turn of a session', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.recordStep(fenceOf(run!), aStep(), FREE);
  await fixture.store.compactions.record(fenceOf(run!), { step: 1, summary: 'mine', characters: 9 });
  await fixture.store.runs.interrupt(fenceOf(run!), 'crash');
  const [again] = await fixture.claim();
  expect(await historyOf(fixture.store, again!, MUCH)).toEqual({
    compaction: { summary: 'mine', step: 1 },
    turns: [],
    isCut: false,
  });
});

test('the longer the text of a turn, the less room has its history', async () => {
  const fixture = await storeFixture();
  const first = await turn(fixture, 'a'.repeat(1_000));
  await turn(fixture, 'b'.repeat(1_000), { sessionId: first.sessionId });
  const room = roomOf(4_000);
  const afterShort = await historyOf(fixture.store, await claimNext(fixture, first.sessionId), room);
  expect([afterShort.turns.length, afterShort.isCut]).toEqual([1, true]);
  const other = await turn(fixture, 'a'.repeat(1_000));
  await fixture.accept({ sessionId: other.sessionId, content: [{ type: 'text', text: 'c'.repeat(3_900) }] });
  const runs = await fixture.claim(9);
  const long = runs.find(({ sessionId }) => sessionId === other.sessionId);
  expect(await historyOf(fixture.store, long!, room)).toEqual({ compaction: null, turns: [], isCut: true });
});

test('the texts of documents count as much as a brief carries of them', async () => {
  const fixture = await storeFixture();
  const sha256 = 'd'.repeat(64);
  await fixture.store.documents.keep(sha256, { text: 'x'.repeat(200_000) });
  const attachment = {
    id: 'a',
    name: 'a.txt',
    path: 'attachments/a/a.txt',
    mimeType: 'text/plain',
    size: 200_000,
    sha256,
  };
  const content: UserBlock[] = [{ type: 'attachment', attachmentId: 'a', media: 'file' }];
  await fixture.accept({ content, attachments: [attachment] });
  const [first] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(first!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(first!));
  const run = await claimNext(fixture, first!.sessionId);
  const given = async (bytes: number) => (await historyOf(fixture.store, run, roomOf(bytes))).turns.length;
  expect([await given(60_000), await given(61_000)]).toEqual([0, 1]);
});
