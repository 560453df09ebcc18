// Texts erased from the database: those of deleted sessions, and streamed text that was discarded.
import { expect, test } from 'vitest';
import type { NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import { openStore, placesOf } from '../../support/store/open-store.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

/** Occurs in every text of the session under test. */
const SECRET = 'The wreck lies off Ushant';
const delta = (text: string): NewEvent => ({ type: 'content_block_delta', payload: { index: 0, text } });
const result = (output: string) => ({ step: 1, toolUseId: 'x', name: 'shell', ok: true, output, durationMs: 1 });

/** A session with its words in every place that a text can take. */
async function acceptEverything(fixture: StoreFixture, text: string) {
  const { runs, compactions, insights, documents, screenshots } = fixture.store;
  const attachment = { id: text, name: text, path: text, mimeType: 'text/plain', size: 1, sha256: text };
  const outputSchema = { description: text };
  const content = [{ type: 'text', text } as const];
  const turn = { title: text, content, preview: text, attachments: [attachment], outputSchema };
  const { sessionSeq, sessionId } = await fixture.accept(turn);
  await documents.keep(text, { text });
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  await runs.appendStream(fence, [delta(text)]);
  const message = { role: 'assistant', content: text };
  await runs.recordStep(
    fence,
    aStep({
      text,
      message,
      setup: { sha256: text, bytes: Buffer.from(text) },
      calls: [{ id: 'x', name: 'shell', input: { text } }],
    }),
    FREE,
  );
  await runs.recordToolResult(fence, result(text));
  await compactions.record(fence, { step: 1, summary: text, characters: 1 });
  await insights.report(fence, { callId: 'i', title: text, summary: text, priority: 'low' });
  await screenshots.keep(fence, { toolUseId: text, sha256: text, mimeType: 'image/png', size: 1 });
  const structured = { value: text };
  await runs.finalize(fence, { outcome: 'completed', answer: text, stopReason: 'end_turn', structured });
  await runs.settle(fence);
  const files = [{ path: `/${text}`, size: 1, sha256: text }];
  await fixture.store.artifacts.recordArtifacts(run!.seq, { files, skipped: {} });
  await fixture.accept({ sessionId });
  const [failing] = await fixture.claim();
  const error = { type: 'api_error', message: text, retryable: false } as const;
  await runs.waitForUser(fenceOf(failing!), { toolUseId: 'q', toolName: text, toolInput: { text }, lifetimeMs: 1 });
  await fixture.store.userInputs.expireDue();
  fixture.clock.advance(10);
  await fixture.store.userInputs.expireDue();
  const [resumed] = await fixture.claim();
  await runs.finalize(fenceOf(resumed!), { outcome: 'failed', error });
  await runs.settle(fenceOf(resumed!));
  return { sessionSeq, runSeq: run!.seq, failedSeq: failing!.seq };
}

async function erase({ store: { erasures, sessions } }: StoreFixture, sessionSeq: number): Promise<void> {
  await sessions.deleteSession(sessionSeq);
  for (let after: number | null = 0; after !== null; ) after = await erasures.eraseRuns(sessionSeq, after);
  while (await erasures.eraseSession(sessionSeq));
  while (await erasures.finishCleanup(sessionSeq));
}

test('no text of a deleted session is left in any table; what it has used is', async () => {
  const fixture = await storeFixture();
  const { sessionSeq } = await acceptEverything(fixture, SECRET);
  const other = await acceptEverything(fixture, 'The tide turns at six');
  const figures = () => ({
    runs: fixture.rows(
      "SELECT input_tokens, output_tokens, cost_usd, status, created_at, error ->> '$.type' FROM runs ORDER BY seq",
    ),
    steps: fixture.rows(
      'SELECT run_seq, step, input_tokens, output_tokens, created_at FROM steps ORDER BY run_seq, step',
    ),
  });
  const [before, places] = [figures(), placesOf(fixture.file, 'The tide turns at six')];
  expect(placesOf(fixture.file, SECRET)).toEqual(places);
  expect(places.length).toBeGreaterThan(27);
  const newest = fixture.rows('SELECT max(id) AS id FROM messages');
  await erase(fixture, sessionSeq);
  expect(placesOf(fixture.file, SECRET)).toEqual([]);
  expect(figures()).toEqual(before);
  expect(placesOf(fixture.file, 'The tide turns at six')).toEqual(places);
  expect(fixture.rows('SELECT max(id) AS id FROM messages')).toEqual(newest);
  await erase(fixture, other.sessionSeq);
  expect(placesOf(fixture.file, 'The tide turns at six')).toEqual([]);
});

test('ids of the journal are not given again when the newest session is erased', async () => {
  const fixture = await storeFixture();
  const { sessionSeq } = await acceptEverything(fixture, SECRET);
  await fixture.store.sessions.deleteSession(sessionSeq);
  const [newest] = fixture.rows<{ id: number }>('SELECT max(id) AS id FROM events');
  for (let after: number | null = 0; after !== null; )
    after = await fixture.store.erasures.eraseRuns(sessionSeq, after);
  while (await fixture.store.erasures.eraseSession(sessionSeq));
  await fixture.accept();
  const rows = fixture.rows<{ id: number }>("SELECT id FROM events WHERE type <> 'session.deleted'");
  expect(Math.min(...rows.map(({ id }) => id))).toBeGreaterThan(newest!.id);
});

test('no commit of an erasure is large, however much there is; it continues after a restart', async () => {
  const fixture = await storeFixture();
  const { sessionSeq } = await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.appendStream(
    fenceOf(run!),
    Array.from({ length: 2_500 }, () => delta(SECRET)),
  );
  const calls = Array.from({ length: 100 }, (_, index) => ({ id: `c${index}`, name: 'shell', input: { SECRET } }));
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
  await fixture.store.sessions.deleteSession(sessionSeq);
  await fixture.store.runs.confirmStop(sessionSeq);
  const count = (table: string) => fixture.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]!.n;
  const counts = () => ({ events: count('events'), calls: count('tool_calls') });
  let [before, after]: [ReturnType<typeof counts>, number | null] = [counts(), 0];
  await fixture.store.erasures.eraseRuns(sessionSeq, 0);
  expect(before.events - counts().events).toBeLessThanOrEqual(1_000);
  await fixture.store.close();
  const again = openStore(fixture.file, fixture.clock);
  expect(await again.sessions.listCleanups(0, 9)).toHaveLength(1);
  let commits = 0;
  for (before = counts(); after !== null; before = counts(), commits += 1) {
    after = await again.erasures.eraseRuns(sessionSeq, after);
    const now = counts();
    expect(before.events - now.events + 50 * (before.calls - now.calls)).toBeLessThanOrEqual(1_050);
  }
  expect([commits > 5, placesOf(fixture.file, SECRET)]).toEqual([true, []]);
  await again.close();
});

/** A run with one kept reply of three deltas, and then some of another. */
async function beginSecondReply() {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const { runs } = fixture.store;
  const block = (index: number, deltas: NewEvent[]): NewEvent[] => [
    { type: 'content_block_start', payload: { index } },
    ...deltas,
  ];
  const kept = ['The ', 'moon ', 'pulls.'].map(delta);
  await runs.appendStream(fence, [...block(0, kept), { type: 'content_block_stop', payload: { index: 0 } }]);
  await runs.recordStep(fence, aStep({ calls: [{ id: 'x', name: 'shell', input: {} }] }), FREE);
  await runs.recordToolResult(fence, result(''));
  await runs.appendStream(
    fence,
    block(
      1,
      Array.from({ length: 2_500 }, () => delta(SECRET)),
    ),
  );
  const streamed = async () =>
    (await fixture.store.events.listOfRun(run!.seq, 0, 9_999)).events.flatMap((event) =>
      event.type === 'content_block_delta' && event.payload.text !== '' ? [event.payload.text] : [],
    );
  return { ...fixture, fence, streamed };
}

test.each(['interrupted', 'failed', 'asked for again'])(
  'what was streamed of a reply that was never kept goes: %s',
  async (how) => {
    const fixture = await beginSecondReply();
    const { runs, erasures, events } = fixture.store;
    const error = { type: 'api_error', message: '', retryable: false } as const;
    if (how === 'interrupted') await runs.interrupt(fixture.fence, 'crash');
    else if (how === 'failed') await runs.finalize(fixture.fence, { outcome: 'failed', error });
    else expect(await runs.discardText(fixture.fence)).toBe(true);
    expect(await erasures.eraseDiscarded()).toBe('later');
    expect(await fixture.streamed()).toHaveLength(2_503);
    fixture.clock.advance(86_400_000);
    let commits = 0;
    while ((await erasures.eraseDiscarded()) === 'more') commits += 1;
    expect(commits).toBeGreaterThanOrEqual(3);
    expect(await fixture.streamed()).toEqual(['The ', 'moon ', 'pulls.']);
    // Places in the stream stay as published.
    const seqs = (await events.listOfRun(fixture.fence.runSeq, 0, 9_999)).events.map(({ streamSeq }) => streamSeq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(await erasures.eraseDiscarded()).toBe('none');
  },
);

test('a run that completes loses nothing of what it has streamed', async () => {
  const fixture = await beginSecondReply();
  await fixture.store.runs.recordStep(fixture.fence, aStep({ step: 2, text: SECRET }), FREE);
  await fixture.store.runs.finalize(fixture.fence, { outcome: 'completed', answer: SECRET, stopReason: 'end_turn' });
  await fixture.store.runs.settle(fixture.fence);
  expect(await fixture.store.erasures.eraseDiscarded()).toBe('none');
  expect(await fixture.streamed()).toHaveLength(2_503);
});
