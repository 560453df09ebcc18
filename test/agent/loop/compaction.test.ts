// Long conversations: pruned first, then summarised once, and what happens when that fails.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { charactersOf, makeTokenEstimate } from '../../../src/agent/conversation/conversation.ts';
import { prune } from '../../../src/agent/loop/prune.ts';
import { type ModelGrant, NO_EQUIPMENT } from '../../../src/agent/port/grants.ts';
import type { Brief, RecordedStep, Turn } from '../../../src/agent/port/protocol.ts';
import { transcriptOf } from '../../../src/agent/loop/summary.ts';
import type { Tool } from '../../../src/agent/port/tool.ts';
import { NO_USAGE } from '../../../src/domain/sessions/usage.ts';
import type { ModelQuestion, Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import type { ModelMessage } from '../../../src/agent/models/message.ts';
import { GRANT, LIMITS, makeBrief, type SignalOf, startRun } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ text: 'Fine.' }));

const FILLER = 'The quick brown fox jumps over the lazy dog. ';
const words = (characters: number) => FILLER.repeat(Math.ceil(characters / FILLER.length)).slice(0, characters);

function makeStep(changes: Partial<RecordedStep> = {}): RecordedStep {
  return { step: 1, kind: 'openai', message: null, text: 'Done.', calls: [], usage: NO_USAGE, ...changes };
}

function makeTurn(text: string, steps: readonly RecordedStep[] = [makeStep()]): Turn {
  return { user: [{ type: 'text', text }], attachments: [], steps };
}

/** Turns of about this many characters each. */
function turns(count: number, characters: number): Turn[] {
  return Array.from({ length: count }, (_, i) =>
    makeTurn(`Question ${i + 1}: ${words(characters / 2)}`, [
      makeStep({ text: `Answer ${i + 1}: ${words(characters / 2)}` }),
    ]),
  );
}

const small = (changes: Partial<ModelGrant> = {}): ModelGrant => ({
  ...GRANT,
  baseUrl: server.url,
  contextWindow: 8_192,
  maxOutputTokens: 1_024,
  ...changes,
});

const isSummary = ({ body }: Pick<ModelQuestion, 'body'>) =>
  JSON.stringify(body.messages).includes('Summarise this conversation.');
const askedSince = (at: number) =>
  server.requests.slice(at).map(({ body }) => ({ body, text: JSON.stringify(body.messages) }));

/**
 * Replies to summary calls with one reply, to everything else with the others in turn, and counts roughly like real servers.
 */
function script(summary: Reply, ...replies: Reply[]): void {
  server.script((question) => {
    const usage = { input: Math.round(JSON.stringify(question.body).length / 3), output: 10 };
    return { usage, ...(isSummary(question) ? summary : (replies.shift() ?? { text: 'Fine.' })) };
  });
}

/** A tool that returns this many characters. */
function reader(characters: number): Tool {
  return {
    kind: 'executes',
    name: 'echo',
    description: 'Reads.',
    inputSchema: { type: 'object' },
    execute: async ({ part }) => ({ ok: true, output: `part ${JSON.stringify(part)}: ${words(characters)}` }),
  };
}

const read = (part: number): Reply => ({
  text: `Reading ${part}.`,
  tools: [{ id: `r${part}`, name: 'echo', input: { part } }],
});

test('a conversation with room to spare is sent whole, and the same way at each step', async () => {
  const at = server.requests.length;
  script({ text: 'never' }, read(1), { text: 'End.' });
  const main = startRun(await makeBrief({ model: small(), history: turns(4, 1_000) }), [reader(100)]);
  expect((await main.done).status).toBe('completed');
  expect(main.of('compaction')).toEqual([]);
  const [first, second] = askedSince(at).map(({ body }) => body.messages!);
  expect(second!.slice(0, first!.length)).toEqual(first);
});

describe('a window of 8192 tokens with 300 earlier turns', () => {
  async function run(changes: Partial<Brief> = {}) {
    const at = server.requests.length;
    const main = startRun(await makeBrief({ model: small(), history: turns(300, 400), ...changes }), []);
    return { main, outcome: await main.done, asked: () => askedSince(at) };
  }

  test('is summarised in one call, committed before the summary replaces anything', async () => {
    script({ text: 'They spoke of foxes.', usage: { input: 5_000, output: 30 } });
    const { main, outcome, asked } = await run();
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine.' });
    const [summary, answer, ...more] = asked();
    expect(more).toEqual([]);
    expect(summary?.body['tools']).toBeUndefined();
    expect(summary?.text).toContain('Answer 300');
    expect(summary!.text.length / 3).toBeLessThan(8_192 - 1_024);
    expect(answer?.text).toContain('They spoke of foxes.');
    expect(answer?.text).toContain('Do it.');
    // The last exchange is kept verbatim, everything else is gone.
    expect(answer?.text).toContain('Question 300');
    expect(answer?.text).not.toContain('Question 299');
    const [compaction] = main.of('compaction');
    expect(compaction).toMatchObject({
      compaction: { step: 0, summary: expect.stringContaining('They spoke of foxes.') },
    });
    expect(compaction!.characters).toBeGreaterThan(5_000);
    expect(main.of('spent')).toMatchObject([{ model: 'house-model', usage: { inputTokens: 5_000, outputTokens: 30 } }]);
    // The text of the summary call is not part of the answer.
    expect(main.blocks()).toEqual(['Fine.']);
  });

  test('waits for the commit of its summary', async () => {
    script({ text: 'A summary.' });
    const at = server.requests.length;
    const brief = await makeBrief({ model: small(), history: turns(300, 400) });
    const main = startRun(brief, [], { acks: ({ t }) => t !== 'compaction' });
    const signal = await main.next(({ t }) => t === 'compaction');
    expect(server.requests).toHaveLength(at + 1);
    main.control({ t: 'ack', ack: 'ack' in signal ? signal.ack : 0 });
    expect((await main.done).status).toBe('completed');
    expect(server.requests).toHaveLength(at + 2);
  });

  test('is asked for its summary again when that breaks off after text', async () => {
    const summaries: Reply[] = [{ text: ['They ', 'spoke.'], cut: 1 }, { text: 'They spoke of foxes.' }];
    server.script((question) => (isSummary(question) ? summaries.shift()! : { text: 'Fine.' }));
    const { main, outcome } = await run();
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(main.of('compaction')).toMatchObject([{ compaction: { summary: expect.stringContaining('foxes') } }]);
  });

  test('loses its oldest turns when the summary fails, and is not asked for another', async () => {
    script({ status: 400 });
    const { main, outcome, asked } = await run();
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(main.of('compaction')).toEqual([]);
    expect(asked().filter(isSummary)).toHaveLength(1);
    const answer = asked().at(-1)!;
    expect(answer.text).toContain('earlier turns of this conversation were left out');
    expect(answer.text).toContain('Question 300');
    expect(answer.text).not.toContain('Question 1:');
    expect(answer.text.length / 3).toBeLessThan(8_192 - 1_024);
    expect(
      main
        .of('log')
        .map(({ message }) => message)
        .join(),
    ).toContain('could not be summarised');
  });

  test('an empty summary counts as failed, and has cost what it has', async () => {
    script({ text: ' ', usage: { input: 5_000, output: 1_000 } });
    const { main, outcome } = await run();
    expect(outcome.status).toBe('completed');
    expect(main.of('compaction')).toEqual([]);
    expect(main.of('spent')).toMatchObject([
      { purpose: 'summary', usage: { inputTokens: 5_000, outputTokens: 1_000 } },
    ]);
  });

  test('summarises an earlier summary too', async () => {
    script({ text: 'Second summary.' });
    const { main, asked } = await run({
      compaction: { summary: 'The first summary: blue.', step: 0 },
      history: turns(60, 400),
    });
    expect(asked()[0]?.text).toContain('The first summary: blue.');
    expect(asked()[1]?.text).toContain('Second summary.');
    expect(asked()[1]?.text).not.toContain('The first summary: blue.');
    expect(main.of('compaction')[0]?.compaction.summary).toContain('Second summary.');
  });

  test('a stop while the summary is made ends the run', async () => {
    script({ hang: 'after-headers' });
    const at = server.requests.length;
    const main = startRun(await makeBrief({ model: small(), history: turns(300, 400) }), []);
    const request = await server.waitForRequest(at + 1);
    main.control({ t: 'abort', reason: 'stop' });
    expect(await main.done).toEqual({ status: 'canceled' });
    await expect.poll(() => request.closedBy).toBe('client');
  });
});

describe('a long run', () => {
  test('is pruned before it is summarised: old results go, calls and words stay', async () => {
    const at = server.requests.length;
    // Nine results of 2,000 characters: pruning alone makes room.
    script({ text: 'never' }, ...Array.from({ length: 9 }, (_, i) => read(i + 1)), { text: 'End.' });
    const main = startRun(await makeBrief({ model: small() }), [reader(2_000)]);
    expect(await main.done).toMatchObject({ status: 'completed', text: 'End.' });
    expect(main.of('compaction')).toEqual([]);
    const last = askedSince(at).at(-1)!;
    expect(last.text.includes('Removed to save room: 2008 characters that echo returned.')).toBe(true);
    expect(last.text).toContain('Reading 1.');
    expect(last.text).toContain(`part 9: ${FILLER}`);
    // The prefix changes when room is made, not at each step.
    const firstMessages = askedSince(at).map(({ body }) => JSON.stringify(body.messages!.slice(0, 4)));
    expect(new Set(firstMessages.slice(1)).size).toBeLessThanOrEqual(2);
    // The journal keeps what the tool returned.
    expect(main.of('tool-result')[0]?.result.output).toContain(FILLER);
  });

  test('is summarised with its first steps, continues, and records up to which step', async () => {
    const at = server.requests.length;
    const wordy = (part: number): Reply => ({ ...read(part), text: `Note ${part}: ${words(2_500)}` });
    script({ text: 'Read parts one to six.' }, ...Array.from({ length: 9 }, (_, i) => wordy(i + 1)), { text: 'End.' });
    const main = startRun(await makeBrief({ model: small() }), [reader(100)]);
    expect(await main.done).toMatchObject({ status: 'completed', text: 'End.' });
    const compactions = main.of('compaction');
    expect(compactions).toHaveLength(1);
    const { step } = compactions[0]!.compaction;
    expect(step).toBeGreaterThan(2);
    const last = askedSince(at).at(-1)!;
    expect(last.text).toContain('Read parts one to six.');
    expect(last.text).toContain('continue from there');
    expect(last.text).toContain('Do it.');
    expect(last.text).not.toContain(`Note ${step}:`);
    expect(last.text).toContain(`Note ${step + 1}:`);
    expect(last.body.messages!.slice(0, 4).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  });

  test('that is resumed builds on its own summary, and repeats no step that it covers', async () => {
    const steps = [1, 2, 3].map((step) =>
      makeStep({
        step,
        text: `Step ${step} spoke.`,
        calls: [
          {
            id: `c${step}`,
            name: 'echo',
            input: {},
            state: { kind: 'ended', result: { ok: true, output: `result ${step}` } },
          },
        ],
      }),
    );
    const at = server.requests.length;
    const brief = await makeBrief({
      model: small(),
      attempt: 2,
      compaction: { summary: 'Steps one and two are done.', step: 2 },
      turn: makeTurn('Do it.', steps),
    });
    const main = startRun(brief, [reader(10)]);
    expect((await main.done).status).toBe('completed');
    const [asked] = askedSince(at);
    expect(asked?.text).toContain('Steps one and two are done.');
    expect(asked?.text).not.toContain('result 2');
    expect(asked?.text).toContain('result 3');
    expect(main.of('step')[0]?.reply.step).toBe(4);
  });

  test('whose request alone fills the window is not summarised again and again: the server says what it will', async () => {
    const at = server.requests.length;
    script({ text: 'Nothing.' }, read(1), read(2), {
      status: 400,
      body: { error: { message: 'context length exceeded' } },
    });
    const turn = makeTurn(words(60_000), []);
    const main = startRun(await makeBrief({ model: small(), turn }), [reader(50)]);
    expect(await main.done).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('more than its context window takes') },
    });
    expect(askedSince(at).filter(isSummary)).toEqual([]);
    expect(main.of('compaction')).toEqual([]);
  });

  test('of a sub-agent is shortened too, and leaves no summary in the journal', async () => {
    const { delegation } = await import('../../../src/agent/packs/delegate.ts');
    const wordy = (part: number): Reply => ({ ...read(part), text: `Note ${part}: ${words(2_500)}` });
    const call: Reply = { tools: [{ id: 'd', name: 'delegate', input: { agent: 'moon', task: 'Read.' } }] };
    script(
      { text: 'Read most.' },
      call,
      ...Array.from({ length: 9 }, (_, i) => wordy(i + 1)),
      { text: 'In.' },
      { text: 'Out.' },
    );
    const subagent = {
      name: 'moon',
      description: 'm',
      instructions: 'You are moon.',
      model: null,
      tools: ['add', 'echo'],
      equipment: NO_EQUIPMENT,
      subagents: [],
    };
    const brief = await makeBrief({ model: small() });
    const equipment = { ...brief.equipment, subagents: [subagent] };
    const main = startRun({ ...brief, equipment, limits: { ...LIMITS, maxSteps: 20 } }, [reader(100)], {
      packs: [delegation],
    });
    expect(await main.done).toMatchObject({ status: 'completed', text: 'Out.' });
    expect(main.of('tool-result')[0]?.result).toEqual({ ok: true, output: 'In.' });
    expect(main.of('compaction')).toEqual([]);
    // Ten steps and a summary.
    expect(main.of('spent')).toHaveLength(11);
  });
});

describe('pruning', () => {
  const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] });
  const result = (value: string): ModelMessage => ({
    role: 'tool',
    parts: [{ type: 'result', id: 'a', name: 'shell', ok: true, output: value }],
  });
  const kept = `${'x'.repeat(600)}\n[… 9 characters left out here; the whole output, 609 bytes, is in /.errand/outputs/a.txt …]\nend`;

  test('names the file that has the whole output, drops reasoning and pictures, and keeps words', () => {
    const earlier: ModelMessage[] = [
      {
        role: 'user',
        parts: [
          { type: 'file', data: 'aGk=', mediaType: 'image/png' },
          { type: 'text', text: 'See.' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'hm' },
          { type: 'text', text: 'I see.' },
        ],
      },
      result(kept),
      result('short'),
    ];
    const prompt = JSON.stringify(prune({ earlier, steps: [] }, 0).earlier);
    expect(prompt).toContain('The whole output is in /.errand/outputs/a.txt.');
    for (const gone of ['aGk=', '"hm"', 'xxxx']) expect(prompt).not.toContain(gone);
    for (const here of ['See.', 'I see.', 'short']) expect(prompt).toContain(here);
  });

  test('leaves the newest as they are, and always the last step', () => {
    const steps = [1, 2].map((step) => ({ step, messages: [result(kept)] }));
    expect(prune({ earlier: [user('a')], steps }, 0).steps[1]).toBe(steps[1]);
    expect(prune({ earlier: [], steps }, 10_000).steps).toEqual(steps);
  });

  test('done twice it changes nothing more', () => {
    const once = prune({ earlier: [result(kept), user('b')], steps: [] }, 0);
    expect(prune(once, 0)).toEqual(once);
  });
});

describe('a conversation that is shorter by its characters than by its tokens', () => {
  /** Refuses calls whose messages are longer than this. */
  async function run(most: number, mostOfSummaries = most) {
    const at = server.requests.length;
    server.script((question) => {
      const summary = isSummary(question);
      const isTooLong = JSON.stringify(question.body.messages).length > (summary ? mostOfSummaries : most);
      if (isTooLong)
        return { status: 400, body: { error: { type: 'exceed_context_size_error', message: 'Too long.' } } };
      return { text: summary ? 'They spoke of foxes.' : 'Fine.' };
    });
    const main = startRun(await makeBrief({ model: small(), history: turns(8, 1_500) }), []);
    return { main, outcome: await main.done, asked: askedSince(at) };
  }

  test('is shortened after its server has refused it, and asked again', async () => {
    const { main, outcome, asked } = await run(9_000, 20_000);
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(asked.map(isSummary)).toEqual([false, true, false]);
    expect(main.of('compaction')).toMatchObject([
      { compaction: { summary: expect.stringContaining('They spoke of foxes.') } },
    ]);
    expect(asked.at(-1)?.text).toContain('They spoke of foxes.');
    expect(asked.at(-1)?.text).toContain('Do it.');
  });

  test('loses its oldest turns when its summary is refused, too', async () => {
    const { main, outcome, asked } = await run(9_000, 0);
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(asked.filter(isSummary)).toHaveLength(1);
    expect(main.of('compaction')).toEqual([]);
    expect(asked.at(-1)?.text).toContain('earlier turns of this conversation were left out');
    expect(asked.at(-1)?.text).toContain('Question 8');
  });

  test('is not asked again once its reader has seen text', async () => {
    const at = server.requests.length;
    const report = '{"error":{"code":400,"type":"exceed_context_size_error","message":"Too long."}}';
    const delta = '{"choices":[{"index":0,"delta":{"content":"High"}}]}';
    server.script({ wire: `data: ${delta}\n\ndata: ${report}\n\n` });
    const main = startRun(await makeBrief({ model: small(), history: turns(8, 1_500) }), []);
    expect((await main.done).status).toBe('failed');
    expect(server.requests).toHaveLength(at + 1);
  });

  test('is given up when nothing more can be left out', async () => {
    const { outcome, asked } = await run(0);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('more than its context window takes') },
    });
    expect(asked.filter(isSummary)).toHaveLength(1);
    expect(asked.length).toBeLessThanOrEqual(5);
  });
});

test('results that a server refuses as too long are shortened, with the name of the file that has the whole', async () => {
  const at = server.requests.length;
  server.script(({ body }) => {
    const sent = JSON.stringify(body.messages);
    if (sent.length > 8_500) return { status: 400, body: { error: { type: 'exceed_context_size_error' } } };
    return sent.includes('end of part')
      ? { text: 'Read.' }
      : { tools: [1, 2, 3, 4].map((part) => ({ id: `r${part}`, name: 'echo', input: { part } })) };
  });
  const long: Tool = {
    ...reader(0),
    execute: async () => ({ ok: true, output: `${words(20_000)}end of part` }),
  } as Tool;
  const main = startRun(await makeBrief({ model: small() }), [long]);
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Read.' });
  const { text } = askedSince(at).at(-1)!;
  expect(text.match(/The quick brown fox/g)!.length).toBeGreaterThan(20);
  expect(text).toContain('is in /.errand/outputs/r1.txt …]');
  expect(text).toContain('is in /.errand/outputs/r2.txt …]');
});

test('the results of one reply fit the window together, however many calls it has', async () => {
  const at = server.requests.length;
  const calls = Array.from({ length: 12 }, (_, part) => ({ id: `r${part}`, name: 'echo', input: { part } }));
  script({ text: 'Summary.' }, { tools: calls }, { text: 'Read.' });
  const main = startRun(await makeBrief({ model: small() }), [reader(20_000)]);
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Read.' });
  const { text } = askedSince(at).at(-1)!;
  expect(text.length / 3).toBeLessThan(8_192 - 1_024);
  expect(text).toContain('r11');
});

test('a model that thinks before it writes has room for both in a summary, which is kept short', async () => {
  server.script((question) => {
    if (!isSummary(question)) return { text: 'Fine.' };
    const refusal = { error: { message: '`max_tokens` must be greater than `thinking.budget_tokens`' } };
    return Number(question.body['max_tokens']) > 4_096 ? { text: words(100_000) } : { status: 400, body: refusal };
  });
  const model = small({ contextWindow: 32_768, maxOutputTokens: 8_192 });
  const main = startRun(await makeBrief({ model, history: turns(300, 400) }), []);
  expect((await main.done).status).toBe('completed');
  const [{ compaction }] = main.of('compaction') as [SignalOf<'compaction'>];
  expect(compaction.summary).toContain('The quick brown fox');
  expect(compaction.summary.length).toBeLessThan(15_000);
});

test('the material of a summary fits, keeps the newest, and keeps an earlier summary', () => {
  const earlier = Array.from(
    { length: 50 },
    (_, i): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text: `Message ${i}: ${words(500)}` }] }),
  );
  const text = transcriptOf({ preface: 'Summary of old.', earlier, own: [] }, 6_000);
  expect(text.length).toBeLessThan(6_100);
  expect(text.startsWith('Summary of old.')).toBe(true);
  expect(text).toContain('Message 49');
  expect(text).not.toContain('Message 2:');
  expect(text).toContain('[Earlier messages were removed.]');
});

test('the estimate learns from the server, and does not believe counts that cannot be', () => {
  const messages: ModelMessage[] = [{ role: 'user', parts: [{ type: 'text', text: words(3_000) }] }];
  const characters = charactersOf(messages);
  const estimate = makeTokenEstimate(0);
  expect(estimate.tokens(messages)).toBeCloseTo(characters / 3);
  estimate.learn(messages, Math.round(characters / 4));
  expect(estimate.tokens(messages)).toBeCloseTo(characters / 4, -1);
  estimate.learn(messages, 0);
  expect(estimate.tokens(messages)).toBeCloseTo(characters / 4, -1);
  estimate.learn(messages, 3);
  expect(estimate.tokens(messages)).toBeCloseTo(characters / 4.5, -1);
});
