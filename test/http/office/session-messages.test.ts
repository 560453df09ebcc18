// The messages and rounds of a session, as administrators read them (§2.14, §4.8).
import { beforeEach, describe, expect, test } from 'vitest';
import type { UserBlock } from '../../../src/domain/sessions/content.ts';
import { AT, ENDED, MODEL, type OfficeSessions, officeSessions } from '../../support/http/office-sessions.ts';
import { aStep, fenceOf } from '../../support/store/store-fixture.ts';

let at: OfficeSessions;
beforeEach(async () => {
  at = await officeSessions();
});

describe('messages with files', () => {
  const attachment = {
    id: 'f1',
    name: 'a.csv',
    path: 'attachments/f1/a.csv',
    mimeType: 'text/csv',
    size: 3,
    sha256: 'ab',
  };

  test('have what was said and done, and what was attached', { tags: ['G3'] }, async () => {
    const first = await at.finished();
    await at.rows.accept({
      sessionId: first.sessionId,
      content: [
        { type: 'text', text: 'See this.' },
        { type: 'attachment', attachmentId: 'f1', media: 'file' },
      ],
      preview: 'See this.',
      attachments: [attachment],
    });
    const found = (await at.data(`/sessions/${first.sessionId}/messages-with-files`)) as {
      items: { run_id: string }[];
    };
    const { sha256, size, name, path, id } = attachment;
    expect(found).toEqual({
      session_id: first.sessionId,
      items: [
        {
          id: 1,
          role: 'user',
          text_preview: 'Tell me of tides.',
          content: { _type: 'UserMessage', content: [{ type: 'text', text: 'Tell me of tides.' }] },
          attachments: [],
          run_id: first.id,
          created_at: AT,
        },
        {
          id: 2,
          role: 'assistant',
          text_preview: 'I begin. Done.',
          content: {
            _type: 'AssistantMessage',
            content: [
              { type: 'text', text: 'I begin.' },
              { type: 'tool_use', id: 'call_1', name: 'shell', input: { command: 'make' } },
              { type: 'tool_use', id: 'call_2', name: 'write_file', input: { path: 'a.txt' } },
              { type: 'tool_result', tool_use_id: 'call_1', is_error: true, content: 'out 0' },
              { type: 'tool_result', tool_use_id: 'call_2', is_error: false, content: 'out 1' },
              { type: 'text', text: 'Done.' },
            ],
          },
          attachments: [],
          run_id: first.id,
          created_at: ENDED,
        },
        {
          id: 3,
          role: 'user',
          text_preview: 'See this.',
          content: {
            _type: 'UserMessage',
            content: [
              { type: 'text', text: 'See this.' },
              { type: 'file', attachment_id: 'f1', file_name: 'a.csv', path },
            ],
          },
          attachments: [{ id, name, path, mime_type: 'text/csv', size, sha256 }],
          run_id: found.items[2]!.run_id,
          created_at: ENDED,
        },
      ],
      has_more: false,
      next_before_id: null,
    });
  });

  test('come the newest page first, ascending inside, and lead on to the past', { tags: ['G3'] }, async () => {
    const { sessionId } = await at.rows.begin();
    for (let more = 0; more < 4; more += 1) await at.rows.accept({ sessionId });
    const page = async (query: string) => {
      const path = `/sessions/${sessionId}/messages-with-files${query}`;
      const found = (await at.data(path)) as {
        items: { id: number }[];
        has_more: boolean;
        next_before_id: number | null;
      };
      return [found.items.map(({ id }) => id), found.has_more, found.next_before_id];
    };
    expect(await page('?limit=2')).toEqual([[4, 5], true, 4]);
    expect(await page('?limit=2&before_id=4')).toEqual([[2, 3], true, 2]);
    expect(await page('?limit=2&before_id=2')).toEqual([[1], false, null]);
    expect(await page('?limit=5')).toEqual([[1, 2, 3, 4, 5], false, null]);
    expect(await page('?before_id=1')).toEqual([[], false, null]);
    expect(await page('?before_id=999&unknown=x')).toEqual([[1, 2, 3, 4, 5], false, null]);
  });

  test('a page of very long ones ends early', async () => {
    const content = [{ type: 'text', text: 'x'.repeat(3 * 1024 * 1024) }] as const;
    const { sessionId } = await at.rows.accept({ content });
    for (let more = 0; more < 4; more += 1) await at.rows.accept({ sessionId, content });
    const page = await at.data(`/sessions/${sessionId}/messages-with-files`);
    expect(page).toMatchObject({ items: [{ id: 3 }, { id: 4 }, { id: 5 }], has_more: true, next_before_id: 3 });
  });
});

describe('rounds', () => {
  test('have what was asked, done and answered, the first one first', { tags: ['G6'] }, async () => {
    const first = await at.finished();
    const second = await at.working(first);
    expect(await at.data(`/sessions/${first.sessionId}/run-rounds`)).toEqual({
      session_id: first.sessionId,
      items: [
        {
          round_no: 1,
          run_id: first.id,
          status: 'completed',
          user_message: 'Tell me of tides.',
          assistant_message: 'Done.',
          tools: [
            { tool_use_id: 'call_1', name: 'shell', status: 'failed', duration_ms: 20 },
            { tool_use_id: 'call_2', name: 'write_file', status: 'completed', duration_ms: 20 },
          ],
          input_tokens: 20,
          output_tokens: 8,
          cost_usd: expect.closeTo(0.006, 9) as number,
          started_at: AT,
          finished_at: ENDED,
        },
        {
          round_no: 2,
          run_id: second.id,
          status: 'running',
          user_message: 'Tell me of tides.',
          assistant_message: 'The moon pulls.',
          tools: [
            { tool_use_id: 'call_1', name: 'shell', status: 'running', duration_ms: null },
            { tool_use_id: 'call_9', name: 'shell', status: 'waiting', duration_ms: null },
          ],
          input_tokens: 10,
          output_tokens: 4,
          cost_usd: expect.closeTo(0.003, 9) as number,
          started_at: '2026-03-01T12:01:02.500Z',
          finished_at: null,
        },
      ],
      total: 2,
      limit: 100,
      offset: 0,
    });
  });

  test('keep their numbers on every page', async () => {
    const { sessionId } = await at.rows.begin();
    for (let more = 0; more < 44; more += 1) await at.rows.accept({ sessionId });
    const page = async (query: string) => {
      const found = await at.data(`/sessions/${sessionId}/run-rounds${query}`);
      const { items, ...rest } = found as { items: { round_no: number; assistant_message: string | null }[] };
      return { numbers: items.map(({ round_no }) => round_no), ...rest };
    };
    const numbers = Array.from({ length: 45 }, (_, index) => index + 1);
    expect(await page('')).toMatchObject({ numbers, total: 45 });
    expect(await page('?limit=30&offset=10')).toMatchObject({ numbers: numbers.slice(10, 40), limit: 30, offset: 10 });
    expect(await page('?limit=40')).toMatchObject({ numbers: numbers.slice(0, 40) });
    expect(await page('?offset=45')).toMatchObject({ numbers: [], total: 45 });
  });

  const askedIn = async (content: readonly UserBlock[]) => {
    const { sessionId } = await at.rows.accept({ content });
    const { items } = (await at.data(`/sessions/${sessionId}/run-rounds`)) as { items: { user_message: string }[] };
    return items.map(({ user_message }) => user_message);
  };

  test('show what the user asked, not what their client has put before it, however long that is', {
    tags: ['G6'],
  }, async () => {
    const reminder = `<system-reminder>\n${'Be brief. '.repeat(900)}\n</system-reminder>`;
    const asked = { type: 'text', text: `${reminder}\nPlot the sales.\n` } as const;
    const earlier = {
      type: 'text',
      quoted: true,
      text: '<earlier_conversation>\nHello.\n</earlier_conversation>',
    } as const;
    expect(await askedIn([asked])).toEqual(['Plot the sales.']);
    expect(await askedIn([earlier, asked])).toEqual(['Plot the sales.']);
    expect(await askedIn([{ type: 'text', text: reminder }])).toEqual([reminder.slice(0, 4_000)]);
  });

  test('a round with nothing said yet has null, and long texts are cut', { tags: ['G6'] }, async () => {
    const long = '🌊'.repeat(5_000);
    const run = await at.rows.accept({ content: [{ type: 'text', text: long }], preview: '🌊' });
    await at.rows.accept({
      sessionId: run.sessionId,
      content: [{ type: 'text', text: long.repeat(9) }],
      preview: '🌊',
    });
    const [claimed] = await at.rows.claim();
    await at.rows.store.runs.recordStep(fenceOf(claimed!), aStep({ text: long }), MODEL);
    const { items } = (await at.data(`/sessions/${run.sessionId}/run-rounds`)) as { items: Record<string, string>[] };
    expect(items[0]!['user_message']).toBe('🌊'.repeat(2_000));
    expect(items[0]!['assistant_message']).toBe('🌊'.repeat(4_000));
    expect(items[1]).toMatchObject({ user_message: '🌊', assistant_message: null });
  });
});
