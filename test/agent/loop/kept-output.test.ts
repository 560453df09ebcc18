// What the model sees of a long output, and where the whole output is.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { keptFileIn, type Keeping, MAX_SHOWN_CHARACTERS, shownOutput } from '../../../src/agent/loop/kept-output.ts';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { shell } from '../../../src/agent/tools/shell.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, makeBrief, makeTools, startRun } from '../play-main.ts';
import { ROOMY } from '../../support/files/space.ts';

const MIB = 1024 * 1024;
const probe = await probeSandbox({
  path: '/usr/local/bin:/usr/bin:/bin',
  privateFolders: [],
  timeoutMs: 120_000,
  maxOutputBytes: 4 * MIB,
  memoryBytes: 512 * MIB,
  maxProcesses: 64,
});
if (!probe.ok) console.warn(`\n*** SKIPPED: long outputs of commands. ${probe.why} ***\n`);

const LARGE = { contextWindow: 200_000, maxOutputTokens: 4_000 };

function keeping(changes: Partial<Keeping> = {}): Keeping & { readonly workspace: string } {
  return { workspace: temporaryDirectory(), owner: null, callId: 'call-1', model: LARGE, shownBefore: 0, ...changes };
}

const outputsIn = (workspace: string) => readdirSync(join(workspace, '.errand/outputs'));

test('an output that is short enough is shown as it is, and nothing is written', async () => {
  const into = keeping();
  expect(await shownOutput('short', into)).toBe('short');
  expect(readdirSync(into.workspace)).toEqual([]);
});

test('of a long output the model is shown start and end, and the file that holds it whole', async () => {
  const into = keeping();
  const output = `start${'é'.repeat(100_000)}end`;
  const shown = await shownOutput(output, into);
  expect(shown.length).toBeLessThan(MAX_SHOWN_CHARACTERS + 200);
  expect(shown.startsWith('start')).toBe(true);
  expect(shown.endsWith('end')).toBe(true);
  expect(shown).toContain(`${output.length - MAX_SHOWN_CHARACTERS} characters left out`);
  expect(shown).toContain(`${Buffer.byteLength(output)} bytes`);
  const kept = keptFileIn(shown);
  expect(kept).toBe('/.errand/outputs/call-1.txt');
  expect(readFileSync(join(into.workspace, kept!), 'utf8')).toBe(output);
});

test('a model with a small window is shown less', async () => {
  const model = { contextWindow: 8_192, maxOutputTokens: 1_024 };
  const shown = await shownOutput('x'.repeat(20_000), keeping({ model }));
  expect(shown.length).toBeLessThan(6_000);
  expect(keptFileIn(shown)).toBeDefined();
});

test('of a reply with many calls, the results share half of the room, and each has its start and end', async () => {
  const model = { contextWindow: 32_768, maxOutputTokens: 4_096 };
  const lengths: number[] = [];
  for (let call = 0; call < 40; call += 1) {
    const shownBefore = lengths.reduce((sum, length) => sum + length, 0);
    const shown = await shownOutput(`start${'x'.repeat(50_000)}end`, keeping({ model, shownBefore }));
    expect(shown).toMatch(/^start.*whole output, 50008 bytes, is in .*end$/s);
    lengths.push(shown.length);
  }
  const room = (model.contextWindow - model.maxOutputTokens) * 3;
  expect(lengths[0]).toBeGreaterThan(room / 5);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(room * 0.75);
});

test('an output is always fit to keep', async () => {
  const shown = await shownOutput(`a\u0000b\uD800${'😀'.repeat(30_000)}`, keeping());
  expect(shown).not.toContain('\u0000');
  expect(shown.isWellFormed()).toBe(true);
});

test('calls with one id, of different runs, keep a file each; an id is never a path', async () => {
  const into = keeping({ callId: '../../call/é' });
  const [one, two] = [await shownOutput('a'.repeat(40_000), into), await shownOutput('b'.repeat(40_000), into)];
  expect(keptFileIn(one)).not.toBe(keptFileIn(two));
  for (const [shown, letter] of [
    [one, 'a'],
    [two, 'b'],
  ] as const) {
    expect(readFileSync(join(into.workspace, keptFileIn(shown)!), 'utf8')).toBe(letter.repeat(40_000));
  }
  expect(outputsIn(into.workspace)).toHaveLength(2);
});

test.each([
  { what: '.errand', put: '.errand' },
  { what: '.errand/outputs', put: '.errand/outputs' },
])('a link in the place of $what is not followed: the words say so and no file is written', async ({ put }) => {
  const outside = temporaryDirectory();
  const into = keeping();
  if (put.includes('/')) mkdirSync(join(into.workspace, '.errand'));
  symlinkSync(outside, join(into.workspace, put));
  const shown = await shownOutput('x'.repeat(40_000), into);
  expect(shown).toContain('could not be stored');
  expect(shown).toContain('symbolic link');
  expect(keptFileIn(shown)).toBeUndefined();
  expect(readdirSync(outside)).toEqual([]);
});

test("a link in the file's own place is left alone, and another name is taken", async () => {
  const outside = join(temporaryDirectory(), 'secret');
  writeFileSync(outside, 'untouched');
  const into = keeping();
  mkdirSync(join(into.workspace, '.errand/outputs'), { recursive: true });
  symlinkSync(outside, join(into.workspace, '.errand/outputs/call-1.txt'));
  const shown = await shownOutput('x'.repeat(40_000), into);
  expect(keptFileIn(shown)).toBe('/.errand/outputs/call-1-2.txt');
  expect(readFileSync(outside, 'utf8')).toBe('untouched');
});

test('the oldest outputs make room when there are too many bytes of them', async () => {
  const into = keeping();
  const folder = join(into.workspace, '.errand/outputs');
  mkdirSync(folder, { recursive: true });
  for (const [index, name] of ['old.txt', 'older.txt', 'oldest.txt'].entries()) {
    writeFileSync(join(folder, name), Buffer.alloc(40 * MIB));
    utimesSync(join(folder, name), 1_000 - index, 1_000 - index);
  }
  await shownOutput('x'.repeat(40_000), into);
  expect(outputsIn(into.workspace).sort()).toEqual(['call-1.txt', 'old.txt', 'older.txt']);
});

test('a tool of a run has its long output stored under the id of its call, and the journal has the short one', async () => {
  const server: ModelServer = await startModelServer();
  try {
    const text = 'line\n'.repeat(20_000);
    server.enqueue({ tools: [{ id: 'call_7', name: 'echo', input: { text } }] }, { text: 'Done.' });
    const brief = await makeBrief({ model: { ...GRANT, baseUrl: server.url } });
    const main = startRun(brief, makeTools().tools);
    expect((await main.done).status).toBe('completed');
    const output = main.of('tool-result')[0]!.result.output;
    expect(output.length).toBeLessThan(30_000);
    expect(keptFileIn(output)).toBe('/.errand/outputs/call_7.txt');
    expect(readFileSync(join(brief.workspace, '.errand/outputs/call_7.txt'), 'utf8')).toBe(text);
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('/.errand/outputs/call_7.txt');
  } finally {
    await server.close();
  }
});

describe.skipIf(!probe.ok)('a command', () => {
  test('that writes a megabyte has all of it stored, byte for byte', async () => {
    if (!probe.ok) return;
    const workspace = temporaryDirectory();
    const result = await shell.execute(
      { command: 'i=0; while [ $i -lt 16384 ]; do printf "%063d\\n" $i; i=$((i+1)); done' },
      {
        workspace,
        workspaceOwner: probe.grant.owner,
        space: ROOMY,
        sandbox: probe.grant,
        egress: [],
        skills: [],
        callId: 'x',
        readDocument: async () => null,
        signal: new AbortController().signal,
      },
    );
    const expected = Array.from({ length: 16_384 }, (_, i) => `${String(i).padStart(63, '0')}\n`).join('');
    expect(result.output.startsWith(expected)).toBe(true);
    const shown = await shownOutput(result.output, keeping({ workspace, owner: probe.grant.owner }));
    const kept = readFileSync(join(workspace, keptFileIn(shown)!), 'utf8');
    expect(kept.slice(0, MIB)).toBe(expected);
    expect(kept.slice(MIB)).toMatch(/^\[exit code 0/);
  });
});
