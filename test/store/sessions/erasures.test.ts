// Texts erased from the database: those of deleted sessions, and streamed text that was discarded.
import { expect, test } from 'vitest';
import type { NewEvent } from '../../../src/domain/journal-event.ts';
import { openStore } from '../../support/store/open-store.ts';
import { aStep, fenceOf, FREE, type StoreHouse, storeHouse } from '../../support/store/store-house.ts';

/** Occurs in every text of the session under test. */
const SECRET = 'The wreck lies off Ushant';
const delta = (text: string): NewEvent => ({ type: 'content_block_delta', payload: { index: 0, text } });
const result = (output: string) => ({ step: 1, toolUseId: 'x', name: 'shell', ok: true, output, durationMs: 1 });

/** Where a text occurs in the file, by table and column. */
function placesOf(house: StoreHouse, text: string): string[] {
  const columns = house.rows<{ place: string; sql: string }>(
    `SELECT t.name || '.' || c.name AS place, 'SELECT 1 FROM ' || t.name || ' WHERE instr("' || c.name || '", ''${text}'') LIMIT 1' AS sql
     FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`,
  );
  return columns.filter(({ sql }) => house.rows(sql).length > 0).map(({ place }) => place);
}

/** A session with its words in every place that a text can take. */
async function acceptEverything(house: StoreHouse, text: string) {
  const { runs, compactions, insights, documents, screenshots } = house.store;
  const attachment = { id: text, name: text, path: text, mimeType: 'text/plain', size: 1, sha256: text };
  const outputSchema = { description: text };
  const content = [{ type: 'text', text } as const];
  const turn = { title: text, content, preview: text, attachments: [attachment], outputSchema };
  const { sessionSeq, sessionId } = await house.accept(turn);
  await documents.keep(text, { text });
  const [run] = await house.claim();
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
  await house.store.artifacts.recordArtifacts(run!.seq, { files, skipped: {} });
  await house.accept({ sessionId });
  const [failing] = await house.claim();
  const error = { type: 'api_error', message: text, retryable: false } as const;
  await runs.waitForUser(fenceOf(failing!), { toolUseId: 'q', toolName: text, toolInput: { text }, lifetimeMs: 1 });
  await house.store.userInputs.expireDue();
  house.clock.advance(10);
  await house.store.userInputs.expireDue();
  const [resumed] = await house.claim();
  await runs.finalize(fenceOf(resumed!), { outcome: 'failed', error });
  await runs.settle(fenceOf(resumed!));
  return { sessionSeq, runSeq: run!.seq, failedSeq: failing!.seq };
}

async function erase({ store: { erasures, sessions } }: StoreHouse, sessionSeq: number): Promise<void> {
  await sessions.deleteSession(sessionSeq);
  for (let after: number | null = 0; after !== null; ) after = await erasures.eraseRuns(sessionSeq, after);
  while (await erasures.eraseSession(sessionSeq));
  while (await erasures.finishCleanup(sessionSeq));
}

test('no text of a deleted session is left in any table; what it has used is', async () => {
  const house = await storeHouse();
  const { sessionSeq } = await acceptEverything(house, SECRET);
  const other = await acceptEverything(house, 'The tide turns at six');
  const figures = () => ({
    runs: house.rows("SELECT input_tokens, output_tokens, cost_usd, status, created_at, error ->> '$.type' FROM runs"),
    steps: house.rows('SELECT run_seq, step, input_tokens, output_tokens, created_at FROM steps'),
  });
  const [before, places] = [figures(), placesOf(house, 'The tide turns at six')];
  expect(placesOf(house, SECRET)).toEqual(places);
  expect(places.length).toBeGreaterThan(27);
  const newest = house.rows('SELECT max(id) AS id FROM messages');
  await erase(house, sessionSeq);
  expect(placesOf(house, SECRET)).toEqual([]);
  expect(figures()).toEqual(before);
  expect(placesOf(house, 'The tide turns at six')).toEqual(places);
  expect(house.rows('SELECT max(id) AS id FROM messages')).toEqual(newest);
  await erase(house, other.sessionSeq);
  expect(placesOf(house, 'The tide turns at six')).toEqual([]);
});

test('ids of the journal are not given again when the newest session is erased', async () => {
  const house = await storeHouse();
  const { sessionSeq } = await acceptEverything(house, SECRET);
  await house.store.sessions.deleteSession(sessionSeq);
  const [newest] = house.rows<{ id: number }>('SELECT max(id) AS id FROM events');
  for (let after: number | null = 0; after !== null; ) after = await house.store.erasures.eraseRuns(sessionSeq, after);
  while (await house.store.erasures.eraseSession(sessionSeq));
  await house.accept();
  const rows = house.rows<{ id: number }>("SELECT id FROM events WHERE type <> 'session.deleted'");
  expect(Math.min(...rows.map(({ id }) => id))).toBeGreaterThan(newest!.id);
});

test('no commit of an erasure is large, however much there is; it continues after a restart', async () => {
  const house = await storeHouse();
  const { sessionSeq } = await house.accept();
  const [run] = await house.claim();
  await house.store.runs.appendStream(
    fenceOf(run!),
    Array.from({ length: 2_500 }, () => delta(SECRET)),
  );
  const calls = Array.from({ length: 100 }, (_, index) => ({ id: `c${index}`, name: 'shell', input: { SECRET } }));
  await house.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
  await house.store.sessions.deleteSession(sessionSeq);
  await house.store.runs.confirmStop(sessionSeq);
  const count = (table: string) => house.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]!.n;
  const counts = () => ({ events: count('events'), calls: count('tool_calls') });
  let [before, after]: [ReturnType<typeof counts>, number | null] = [counts(), 0];
  await house.store.erasures.eraseRuns(sessionSeq, 0);
  expect(before.events - counts().events).toBeLessThanOrEqual(1_000);
  await house.store.close();
  const again = openStore(house.file, house.clock);
  expect(await again.sessions.listCleanups(0, 9)).toHaveLength(1);
  let commits = 0;
  for (before = counts(); after !== null; before = counts(), commits += 1) {
    after = await again.erasures.eraseRuns(sessionSeq, after);
    const now = counts();
    expect(before.events - now.events + 50 * (before.calls - now.calls)).toBeLessThanOrEqual(1_050);
  }
  expect([commits > 5, placesOf(house, SECRET)]).toEqual([true, []]);
  await again.close();
});

/** A run with one kept reply of three deltas, and then some of another. */
async function beginSecondReply() {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  const fence = fenceOf(run!);
  const { runs } = house.store;
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
    (await house.store.events.listOfRun(run!.seq, 0, 9_999)).events.flatMap((event) =>
      event.type === 'content_block_delta' && event.payload.text !== '' ? [event.payload.text] : [],
    );
  return { ...house, fence, streamed };
}

test.each(['interrupted', 'failed', 'asked for again'])(
  'what was streamed of a reply that was never kept goes: %s',
  async (how) => {
    const house = await beginSecondReply();
    const { runs, erasures, events } = house.store;
    const error = { type: 'api_error', message: '', retryable: false } as const;
    if (how === 'interrupted') await runs.interrupt(house.fence, 'crash');
    else if (how === 'failed') await runs.finalize(house.fence, { outcome: 'failed', error });
    else expect(await runs.discardText(house.fence)).toBe(true);
    expect(await erasures.eraseDiscarded()).toBe('later');
    expect(await house.streamed()).toHaveLength(2_503);
    house.clock.advance(86_400_000);
    let commits = 0;
    while ((await erasures.eraseDiscarded()) === 'more') commits += 1;
    expect(commits).toBeGreaterThanOrEqual(3);
    expect(await house.streamed()).toEqual(['The ', 'moon ', 'pulls.']);
    // Places in the stream stay as published.
    const seqs = (await events.listOfRun(house.fence.runSeq, 0, 9_999)).events.map(({ streamSeq }) => streamSeq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(await erasures.eraseDiscarded()).toBe('none');
  },
);

test('a run that completes loses nothing of what it has streamed', async () => {
  const house = await beginSecondReply();
  await house.store.runs.recordStep(house.fence, aStep({ step: 2, text: SECRET }), FREE);
  await house.store.runs.finalize(house.fence, { outcome: 'completed', answer: SECRET, stopReason: 'end_turn' });
  await house.store.runs.settle(house.fence);
  expect(await house.store.erasures.eraseDiscarded()).toBe('none');
  expect(await house.streamed()).toHaveLength(2_503);
});
