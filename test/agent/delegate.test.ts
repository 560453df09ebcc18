// Delegation: a sub-agent's run inside a call, its usage in the run, and every way it ends.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectorTools } from '../../src/agent/packs/connectors.ts';
import { delegation } from '../../src/agent/packs/delegate.ts';
import { type ModelGrant, NO_EQUIPMENT, type SubagentGrant } from '../../src/agent/port/grants.ts';
import type { Brief, RecordedStep, Signal } from '../../src/agent/port/protocol.ts';
import type { ToolPack } from '../../src/agent/loop/run.ts';
import type { Tool } from '../../src/agent/port/tool.ts';
import { makePermits } from '../../src/execution/pool/permits.ts';
import type { ModelQuestion, Reply } from '../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../support/model/model-server.ts';
import { GRANT, LIMITS, makeBrief, makeTools, startRun } from './play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ text: 'Fine.' }));

function agent(name: string, changes: Partial<SubagentGrant> = {}): SubagentGrant {
  const description = `Knows all of ${name}.`;
  return {
    name,
    description,
    instructions: `You are ${name}.`,
    model: null,
    tools: ['add', 'echo'],
    equipment: NO_EQUIPMENT,
    subagents: [],
    ...changes,
  };
}

async function briefWith(subagents: readonly SubagentGrant[], changes: Partial<Brief> = {}): Promise<Brief> {
  const model: ModelGrant = { ...GRANT, baseUrl: server.url };
  return makeBrief({ model, equipment: { ...NO_EQUIPMENT, subagents }, ...changes });
}

const delegating = (name: string, task = 'Find it.', id = 'd1'): Reply => ({
  tools: [{ id, name: 'delegate', input: { agent: name, task } }],
});
const systemOf = ({ body }: ModelQuestion): string => JSON.stringify(body.messages?.[0]?.content);
const offeredBy = (body: unknown): string[] =>
  ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map((one) => one.function.name);

function start(brief: Brief, tools: readonly Tool[] = [], manners: { packs?: readonly ToolPack[] } = {}) {
  return startRun(brief, tools, { packs: [delegation, ...(manners.packs ?? [])] });
}

test('a sub-agent whose model is down says so in the run, under its name', async () => {
  server.enqueue(delegating('moon'), { status: 502 }, { status: 504 }, { text: 'Three metres.' }, { text: 'Done.' });
  const main = start(await briefWith([agent('moon')], { limits: { ...LIMITS, patienceMs: 60_000 } }));
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(main.of('model-wait')).toMatchObject([{ model: GRANT.name, agent: 'moon' }]);
  expect(main.of('model-wait-over')).toMatchObject([{ model: GRANT.name, agent: 'moon', answered: true }]);
});

test("a sub-agent has its own instructions, the task alone and a filtered set of tools; its answer is the call's result", async () => {
  const { tools, ran } = makeTools();
  const before = server.requests.length;
  server.enqueue(
    delegating('moon', 'How high is the tide?'),
    { text: 'Let me add.', tools: [{ id: 'd1', name: 'add', input: { a: 1, b: 2 } }] },
    { text: 'Three metres.' },
    { text: 'It is three metres.' },
  );
  const history = [{ user: [{ type: 'text', text: 'Old words.' }] as const, attachments: [], steps: [] }];
  const main = start(await briefWith([agent('moon', { tools: ['add'] })], { history }), tools);
  expect(await main.done).toMatchObject({ status: 'completed', text: 'It is three metres.' });
  expect(ran).toEqual(['add 1 2']);
  expect(main.of('tool-result').map(({ result }) => result)).toEqual([{ ok: true, output: 'Three metres.' }]);
  const [own, first, second] = server.requests.slice(before).map(({ body }) => body);
  expect(offeredBy(own)).toEqual(['add', 'echo', 'delegate']);
  expect(JSON.stringify(own)).toContain('moon: Knows all of moon.');
  expect(offeredBy(first)).toEqual(['add']);
  const prompt = JSON.stringify(first);
  for (const words of ['You are moon.', 'How high is the tide?', 'Another agent gave you this task']) {
    expect(prompt).toContain(words);
  }
  expect(prompt).not.toContain('Old words.');
  // Only the run's own text is streamed, and only its own steps are kept.
  expect(main.blocks()).toEqual(['It is three metres.']);
  expect(main.of('step')).toHaveLength(2);
  expect(JSON.stringify(second)).toContain('"3"');
});

test('what a sub-agent uses is counted in the run, under the name of its own model', async () => {
  const model: ModelGrant = { ...GRANT, name: 'small-model', baseUrl: server.url, model: 'scripted-small' };
  server.enqueue(delegating('moon'), { text: 'Yes.', usage: { input: 70, output: 9 } }, { text: 'Done.' });
  const before = server.requests.length;
  const main = start(await briefWith([agent('moon', { model })]));
  expect((await main.done).status).toBe('completed');
  expect(main.of('spent')).toMatchObject([{ model: 'small-model', usage: { inputTokens: 70, outputTokens: 9 } }]);
  expect(server.requests.slice(before).map(({ body }) => body.model)).toEqual([
    'scripted',
    'scripted-small',
    'scripted',
  ]);
});

test('agents delegate down to depth two and no further, and never to themselves', async () => {
  const before = server.requests.length;
  server.enqueue(
    delegating('one', 'a'),
    delegating('two', 'b'),
    { text: 'From two.' },
    { text: 'From one.' },
    { text: 'All.' },
  );
  const main = start(
    await briefWith([agent('one', { subagents: ['one', 'two'] }), agent('two', { subagents: ['one'] })]),
  );
  expect(await main.done).toMatchObject({ status: 'completed', text: 'All.' });
  const [own, one, two] = server.requests.slice(before).map(({ body }) => body);
  expect(offeredBy(own)).toEqual(['delegate']);
  expect(offeredBy(one)).toEqual(['delegate']);
  expect(JSON.stringify(one)).not.toContain('Knows all of one.');
  expect(offeredBy(two)).toEqual([]);
  expect(main.of('spent')).toHaveLength(3);
});

test('a sub-agent delegates to those alone that its own definition names', async () => {
  const before = server.requests.length;
  server.enqueue(delegating('one', 'a'), { text: 'From one.' }, { text: 'All.' });
  const agents = [agent('one', { subagents: ['three', 'nobody'] }), agent('two'), agent('three')];
  expect((await start(await briefWith(agents)).done).status).toBe('completed');
  const one = JSON.stringify(server.requests[before + 1]!.body);
  expect(one).toContain('Knows all of three.');
  expect(one).not.toContain('Knows all of two.');
  server.enqueue(delegating('two', 'a'), { text: 'From two.' }, { text: 'All.' });
  expect((await start(await briefWith(agents)).done).status).toBe('completed');
  expect(offeredBy(server.requests[before + 4]!.body)).toEqual([]);
});

test('a sub-agent has its own connections, not those of the agent that delegates, and neither has those of the other', async () => {
  const connection = (name: string) => ({
    id: `id-of-${name}`,
    name: '',
    connector: name,
    methods: ['GET'],
    paths: ['/*'],
    description: name,
    baseUrl: 'http://x',
  });
  const connections = [connection('crm')];
  const withWiki = agent('two', { equipment: { ...NO_EQUIPMENT, connections: [connection('wiki')] } });
  const equipment = { ...NO_EQUIPMENT, connections, subagents: [agent('one'), withWiki] };
  const brief = await briefWith([], { equipment, connectorToken: 'token' });
  const before = server.requests.length;
  server.enqueue(
    delegating('one', 'a'),
    { text: 'One.' },
    delegating('two', 'b', 'd2'),
    { text: 'Two.' },
    { text: 'All.' },
  );
  expect((await start(brief, [], { packs: [connectorTools] }).done).status).toBe('completed');
  const [own, one, , two] = server.requests.slice(before).map(({ body }) => body);
  expect(offeredBy(own)).toEqual(['delegate', 'connector_request']);
  expect(JSON.stringify(own)).toContain('- crm: crm');
  expect(JSON.stringify(own)).not.toContain('- wiki: wiki');
  expect(offeredBy(one)).toEqual([]);
  expect(offeredBy(two)).toEqual(['connector_request']);
  expect(JSON.stringify(two)).toContain('- wiki: wiki');
  expect(JSON.stringify(two)).not.toContain('- crm: crm');
});

test('a missing agent is reported, and no model is asked', async () => {
  const before = server.requests.length;
  server.enqueue(delegating('sun'), { text: 'Well.' });
  const main = start(await briefWith([agent('moon')]));
  expect((await main.done).status).toBe('completed');
  expect(main.of('tool-result')[0]?.result).toMatchObject({ ok: false });
  expect(server.requests).toHaveLength(before + 2);
});

test("a sub-agent's reply that breaks off after text is asked for again: nobody has read it", async () => {
  server.enqueue(
    delegating('moon'),
    { text: ['Three ', 'metres.'], cut: 1 },
    { text: 'Four metres.' },
    { text: 'Done.' },
  );
  const main = start(await briefWith([agent('moon')]));
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(main.of('tool-result')[0]!.result).toEqual({ ok: true, output: 'Four metres.' });
  expect(main.of('discard')).toEqual([]);
});

test('a sub-agent that fails is a failed call, and the run continues', async () => {
  server.enqueue(
    delegating('moon'),
    { status: 400, body: { error: { message: 'no such thing' } } },
    { text: 'Too bad.' },
  );
  const main = start(await briefWith([agent('moon')]));
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Too bad.' });
  const { result } = main.of('tool-result')[0]!;
  expect(result.ok).toBe(false);
  expect(result.output).toContain('The agent "moon" failed');
  expect(result.output).toContain('400');
});

test('a sub-agent that never ends is stopped at its limit of steps', async () => {
  const { tools } = makeTools();
  server.script((question) =>
    systemOf(question).includes('You are moon.')
      ? { tools: [{ name: 'echo', input: { text: 'again' } }] }
      : question.step === 0
        ? delegating('moon')
        : { text: 'Enough.' },
  );
  const main = start(await briefWith([agent('moon')], { limits: { ...LIMITS, maxSteps: 4 } }), tools);
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Enough.' });
  expect(main.of('tool-result')[0]?.result.output).toContain('within 4 steps');
  expect(main.of('spent')).toHaveLength(4);
});

test('a stop in the middle of a sub-agent closes its upstream and ends the run', async () => {
  const before = server.requests.length;
  server.enqueue(delegating('moon'), { text: ['more '], endless: true, deltaMs: 5 });
  const main = start(await briefWith([agent('moon')]));
  const inner = await server.waitForRequest(before + 2);
  main.control({ t: 'abort', reason: 'stop' });
  expect(await main.done).toEqual({ status: 'canceled' });
  await expect.poll(() => inner.closedBy).toBe('client');
  expect(main.of('tool-result')).toEqual([]);
});

test("the run's time is the sub-agent's time", async () => {
  const before = server.requests.length;
  server.enqueue(delegating('moon'), { hang: 'after-headers' });
  const main = start(await briefWith([agent('moon')], { limits: { ...LIMITS, runTimeoutMs: 5_000 } }));
  expect(await main.done).toMatchObject({ status: 'failed', error: { type: 'timeout_error' } });
  await expect.poll(() => server.requests[before + 1]?.closedBy).toBe('client');
});

test('with one permit for the endpoint a sub-agent is served: the agent above holds none while it waits', async () => {
  const metered: ModelGrant = { ...GRANT, baseUrl: server.url, metered: true };
  server.enqueue(delegating('one'), delegating('two', 'b'), { text: 'Two.' }, { text: 'One.' }, { text: 'All.' });
  const permits = makePermits();
  let held: { release(): void } | undefined;
  const sees = (signal: Signal) => {
    if (signal.t === 'permit-wanted') held = permits.acquire('e', 1, () => main.control({ t: 'permit' }));
    if (signal.t === 'permit-returned') held?.release();
  };
  const brief = await briefWith([agent('one', { subagents: ['two'] }), agent('two')], { model: metered });
  const main = startRun(brief, [], { packs: [delegation], permits: false, sees });
  expect(await main.done).toMatchObject({ status: 'completed', text: 'All.' });
  expect(main.of('permit-wanted')).toHaveLength(5);
  expect(main.of('permit-returned')).toHaveLength(5);
});

test('a permit is requested under the name of the called model', async () => {
  const model: ModelGrant = { ...GRANT, name: 'other-model', baseUrl: server.url, metered: true };
  server.enqueue(delegating('moon'), { text: 'Yes.' }, { text: 'Done.' });
  const main = start(await briefWith([agent('moon', { model })]));
  expect((await main.done).status).toBe('completed');
  expect(main.of('permit-wanted').map((signal) => signal.model)).toEqual(['other-model']);
});

test("a sub-agent's calls have ids of their own in the run, and its log names it", async () => {
  const ids: string[] = [];
  const noting: Tool = {
    kind: 'executes',
    name: 'note',
    description: 'Notes.',
    inputSchema: { type: 'object' },
    execute: async (_input, { callId }) => {
      ids.push(callId);
      return { ok: true, output: '' };
    },
  };
  const notes: ToolPack = async () => ({ tools: [noting], notes: [], close: async () => undefined });
  const noteCall: Reply = { tools: [{ id: 'same', name: 'note', input: {} }] };
  server.enqueue(noteCall, delegating('moon', 'x', 'd9'), { status: 503 }, noteCall, { text: 'In.' }, { text: 'Out.' });
  const main = start(await briefWith([agent('moon')]), [], { packs: [notes] });
  expect((await main.done).status).toBe('completed');
  expect(ids).toEqual(['same', 'd9/same']);
  expect(main.of('log').map(({ facts }) => facts['agent'])).toEqual(['moon']);
});

test('a delegation that had begun before a crash is not repeated: its outcome is unknown', async () => {
  server.enqueue(delegating('moon'));
  const brief = await briefWith([agent('moon')]);
  const before = server.requests.length;
  server.script({ hang: 'before-headers' });
  const first = start(brief);
  await server.waitForRequest(before + 2);
  first.control({ t: 'abort', reason: 'crash' });
  await first.done;
  const { reply } = first.of('step')[0]!;
  const step: RecordedStep = { ...reply, calls: reply.calls.map((call) => ({ ...call, state: { kind: 'unknown' } })) };
  server.script({ text: 'I go on.' });
  const resumedAt = server.requests.length;
  const main = start({ ...brief, attempt: 2, turn: { ...brief.turn, steps: [step] } });
  expect(await main.done).toMatchObject({ status: 'completed', text: 'I go on.' });
  expect(server.requests).toHaveLength(resumedAt + 1);
  expect(main.of('tool-result')[0]?.result.output).toContain('outcome unknown');
});
