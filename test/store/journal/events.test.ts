// The journal, read: what earlier versions wrote is read as what is written now.
import { expect, test } from 'vitest';
import type { EventType } from '../../../src/domain/sessions/journal-event.ts';
import { renderJournalEvent } from '../../../src/wire/journal-event.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';
import { literal } from '../../support/store/open-store.ts';

const EARLIER: readonly (readonly [EventType, object, object])[] = [
  ['run.step', { step: 1, inputTokens: 2, outputTokens: 3 }, { step: 1, text_preview: '', calls: [] }],
  [
    'tool_result',
    { toolUseId: 'a', name: 'shell', ok: true, preview: 'x', durationMs: 5 },
    { tool_use_id: 'a', ok: true, output: 'x', duration_ms: 5 },
  ],
  [
    'tool_result',
    { toolUseId: 'a', name: 'shell', ok: true, preview: 'x'.repeat(1_000), durationMs: 5 },
    { tool_use_id: 'a', ok: true, output: 'x'.repeat(1_000), truncated: true, duration_ms: 5 },
  ],
  ['message', { messageId: 9, usage: {} }, { message_id: 9, role: 'assistant', text_preview: '' }],
  [
    'user_input.answered',
    { requestId: 'q', toolUseId: 'a', answers: 'yes' },
    { request_id: 'q', tool_use_id: 'a', tool_name: '', expires_at: null, answers: 'yes' },
  ],
  [
    'user_input.expired',
    { requestId: 'q', toolUseId: 'a' },
    { request_id: 'q', tool_use_id: 'a', tool_name: '', expires_at: null },
  ],
];

test('events of earlier versions are rendered like current ones', async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept();
  const rows = EARLIER.map(([type, payload], at) => [
    run.sessionSeq,
    run.seq,
    at + 2,
    type,
    JSON.stringify(payload),
    0,
  ]);
  fixture.change(`INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
    VALUES ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ')}`);
  const [queued, ...found] = (await fixture.store.events.listOfRun(run.seq, 0, 99)).events;
  expect(queued?.type).toBe('run.queued');
  const place = { sessionId: run.sessionId, runId: run.id };
  expect(found.map((event) => renderJournalEvent(event, place).payload)).toEqual(
    EARLIER.map(([, , expected]) => expected),
  );
});

test('a step’s event has its text and calls, a result’s its output, cut at 4 KB between characters (G18)', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const calls = ['a', 'b'].map((id) => ({ id, name: 'shell', input: { command: 'date' } }));
  await fixture.store.runs.recordStep(fence, aStep({ text: 'The  moon\npulls.', calls }), FREE);
  const result = { step: 1, name: 'shell', ok: true, durationMs: 1 };
  await fixture.store.runs.recordToolResult(fence, { ...result, toolUseId: 'a', output: 'ä'.repeat(2_048) });
  await fixture.store.runs.recordToolResult(fence, { ...result, toolUseId: 'b', output: `x${'ä'.repeat(2_048)}` });
  const payloads = fixture.committed.flatMap(({ type, payload }) =>
    type === 'run.step' || type === 'tool_result' ? [payload] : [],
  );
  expect(payloads).toMatchObject([
    {
      textPreview: 'The moon pulls.',
      calls: [
        { id: 'a', name: 'shell' },
        { id: 'b', name: 'shell' },
      ],
    },
    { toolUseId: 'a', output: 'ä'.repeat(2_048) },
    { toolUseId: 'b', output: `x${'ä'.repeat(2_047)}`, truncated: true },
  ]);
  expect(payloads[1]).not.toHaveProperty('truncated');
});
