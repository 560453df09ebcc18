// Sub-agents, skills, long outputs and long conversations in the real daemon, across turns and crashes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { keptFileIn } from '../../../src/agent/loop/kept-output.ts';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { ANSWER } from '../../../src/store/rows.ts';
import { rowsOf as lookAt } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { ModelQuestion, Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const LIMITS = { timeoutMs: 120_000, maxOutputBytes: 65_536, memoryBytes: 512 * 1_048_576, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!probe.ok) console.warn(`\n*** SKIPPED: commands of agents in the daemon. ${probe.why} ***\n`);

let models: ModelServer;
let daemon: DaemonProcess;
let crewKey: string;

function write(name: string, text: string): void {
  const file = join(daemon.configDir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

beforeAll(async () => {
  models = await startModelServer();
  const price = 'price: { input_per_million_usd: 10, output_per_million_usd: 0 }';
  daemon = await startDaemonProcess({
    modelsYaml: [
      `endpoints: { narrow: { kind: openai, base_url: "${models.url}/v1", max_in_flight: 1 } }`,
      'models:',
      '  small: { endpoint: narrow, model: small, context_window: 8192, max_output_tokens: 1024 }',
      `  dear: { endpoint: narrow, model: dear, context_window: 32768, max_output_tokens: 1024, ${price} }`,
      'scenarios: { general: { model: small } }',
      'default_scenario: general',
      '',
    ].join('\n'),
  });
  write('skills/tides/SKILL.md', '---\nname: tides\ndescription: About tides\n---\nMind the moon.\n');
  write('skills/tides/table.sh', 'echo high water at six\n');
  write(
    'experts/captain.md',
    '---\ndescription: Leads\nskills: [tides]\nsubagents: [cook]\n---\nYou are the captain.\n',
  );
  write('experts/cook.md', '---\ndescription: Cooks\nmodel: dear\n---\nYou are the cook.\n');
  await daemon.restart();
  const made = await runErrand(
    [
      'keys',
      'create',
      '--user',
      daemon.adminName,
      '--scope',
      'global',
      '--target',
      'expert:captain',
      '-o',
      'json',
    ].concat('--data-dir', daemon.dataDir),
  );
  crewKey = (JSON.parse(made.stdout) as { key: string }).key;
});
afterAll(async () => {
  await daemon.close();
  await models.close();
});
beforeEach(() => models.script({ text: 'Aye.' }));

const instructionsOf = ({ body }: ModelQuestion): string => JSON.stringify(body.messages?.[0]);
const call = (name: string, input: object, text = ''): Reply => ({ text, tools: [{ name, input }] });
const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });
const crewDoor = () => ({ url: daemon.url, apiKey: crewKey });

interface RunRows {
  readonly run: {
    readonly status: string;
    readonly attempt: number;
    readonly input_tokens: number;
    readonly cost_usd: number;
  };
  readonly events: readonly { readonly type: string; readonly payload: string }[];
  readonly outputs: readonly string[];
}

function rowsOf(runId: string): RunRows {
  const [run] = lookAt<RunRows['run'] & { readonly seq: number }>(
    daemon,
    `SELECT r.*, ${ANSWER} FROM runs r WHERE r.id = ?`,
    runId,
  );
  const calls = 'SELECT output FROM tool_calls WHERE run_seq = ? ORDER BY step, position';
  return {
    run: run!,
    events: lookAt(daemon, 'SELECT type, payload FROM events WHERE run_seq = ? ORDER BY id', run!.seq),
    outputs: lookAt<{ readonly output: string }>(daemon, calls, run!.seq).map(({ output }) => output),
  };
}

test("an expert delegates over an endpoint with one place, and the sub-agent's tokens and price are the run's", async () => {
  models.script((question) => {
    const usage = { input: 1_000, output: 10 };
    if (instructionsOf(question).includes('You are the cook.')) return { text: 'Soup.', usage };
    return question.step === 0
      ? { ...call('delegate', { agent: 'cook', task: 'What is there to eat?' }), usage }
      : { text: 'There is soup.', usage };
  });
  const answer = await takeTurn(crewDoor(), { content: 'We are hungry.' });
  expect(answer).toMatchObject({ status: 200, text: 'There is soup.' });
  const { run, outputs } = rowsOf(answer.runId!);
  expect(outputs).toEqual(['Soup.']);
  expect(run.input_tokens).toBe(3_000);
  // Only the cook's model has a price: 10 dollars for a million tokens.
  expect(run.cost_usd).toBeCloseTo(0.01);
  expect(models.maxInFlight()).toBe(1);
});

test('a daemon that is killed while a sub-agent works resumes its run, and does not delegate again', async () => {
  let cooks = 0;
  models.script((question) => {
    if (instructionsOf(question).includes('You are the cook.')) {
      cooks += 1;
      return { text: ['stirring '], endless: true, deltaMs: 20 };
    }
    return question.step === 0 ? call('delegate', { agent: 'cook', task: 'Cook.' }) : { text: 'We ask again later.' };
  });
  const turn = takeTurn(crewDoor(), { content: 'Dinner!', stream: true }).catch(() => undefined);
  await waitFor(() => cooks === 1, { what: 'the cook at work' });
  const runId = rowIdOfNewest();
  await daemon.kill();
  await turn;
  await daemon.restart();
  await waitFor(() => rowsOf(runId).run.status === 'completed', { what: 'the run ended' });
  const { outputs, run } = rowsOf(runId);
  expect(run.attempt).toBe(2);
  expect(cooks).toBe(1);
  expect(outputs).toEqual([expect.stringContaining('outcome unknown')]);
});

function rowIdOfNewest(): string {
  return lookAt<{ readonly id: string }>(daemon, 'SELECT id FROM runs ORDER BY seq DESC LIMIT 1')[0]!.id;
}

test.skipIf(!probe.ok)('a skill is loaded, and a command uses its files', async () => {
  const replies = [call('load_skill', { name: 'tides' }), call('shell', { command: 'sh /skills/tides/table.sh' })];
  models.script(({ step }) => replies[step] ?? { text: 'At six.' });
  const answer = await takeTurn(crewDoor(), { content: 'When is high water?' });
  expect(answer.text).toBe('At six.');
  const { outputs } = rowsOf(answer.runId!);
  expect(outputs[0]).toContain('Mind the moon.');
  expect(outputs[0]).toContain('/skills/tides/table.sh');
  expect(outputs[1]).toContain('high water at six');
});

test.skipIf(!probe.ok)('a long output is stored in full in the workspace, where the agent can read on', async () => {
  const replies = [
    call('shell', { command: 'seq 100000' }),
    call('search_files', { pattern: '^77777$', regexp: true, path: '/.errand/outputs' }),
  ];
  models.script(({ step }) => replies[step] ?? { text: 'Found.' });
  const answer = await takeTurn(target(), { content: 'Count.' });
  const { outputs } = rowsOf(answer.runId!);
  expect(outputs[0]!.length).toBeLessThan(8_000);
  const kept = keptFileIn(outputs[0]!);
  const file = readFileSync(join(daemon.dataDir, 'workspaces', answer.sessionId!, kept!), 'utf8');
  expect(file).toMatch(/^1\n2\n[^]*\n100000\n\[exit code 0/);
  expect(outputs[1]).toContain(`${kept!.slice(1)}:77777: 77777`);
});

test('a conversation that fills its window is summarised once; the next turns build on the summary, also after a restart', async () => {
  const isSummary = ({ body }: Pick<ModelQuestion, 'body'>) =>
    JSON.stringify(body.messages).includes('Summarise this conversation.');
  models.script((question) => {
    const usage = { input: Math.round(JSON.stringify(question.body).length / 3), output: 10 };
    return isSummary(question)
      ? { text: 'They counted sheep.', usage }
      : { text: `Answer to ${question.userText.slice(0, 12)}. ${'woolly '.repeat(200)}`, usage };
  });
  let sessionId: string | null = null;
  const runs: string[] = [];
  const ask = async (n: number) => {
    const answer = await takeTurn(target(), { content: `Question ${n}: ${'sheep '.repeat(100)}`, sessionId });
    expect(answer.status).toBe(200);
    sessionId = answer.sessionId;
    runs.push(answer.runId!);
  };
  const from = models.requests.length;
  let asked = 0;
  while (!models.requests.slice(from).some(isSummary)) {
    expect((asked += 1)).toBeLessThan(20);
    await ask(asked);
  }
  const compacted = rowsOf(runs.at(-1)!).events.filter(({ type }) => type === 'run.compacted');
  expect(compacted).toHaveLength(1);
  expect(JSON.parse(compacted[0]!.payload)).toMatchObject({ step: 0, characters: expect.any(Number) });
  // The summary's tokens are part of the run.
  const calls = models.requests.slice(-2).map(({ body }) => Math.round(JSON.stringify(body).length / 3));
  expect(rowsOf(runs.at(-1)!).run.input_tokens).toBe(calls[0]! + calls[1]!);
  await daemon.restart();
  const before = models.requests.length;
  await ask(asked + 1);
  expect(models.requests).toHaveLength(before + 1);
  const prompt = JSON.stringify(models.requests.at(-1)!.body.messages);
  expect(prompt).toContain('They counted sheep.');
  expect(prompt).toContain(`Question ${asked}:`);
  expect(prompt).toContain(`Question ${asked + 1}:`);
  expect(prompt).not.toContain('Question 1:');
  expect(rowsOf(runs.at(-1)!).events.some(({ type }) => type === 'run.compacted')).toBe(false);
});
