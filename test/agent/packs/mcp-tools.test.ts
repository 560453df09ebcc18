// MCP servers as a run uses them: real servers in the real sandbox. Without one these tests are skipped, and say so.
import { checkMcp } from '../../../src/agent/checks/check-mcp.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// @ts-expect-error a module of plain JavaScript, which also runs in the sandbox
import { MENDED_TOOLS } from '../../support/mcp/sloppy-tools.mjs';
import { mcpTools } from '../../../src/agent/packs/mcp-tools.ts';
import {
  goodServer,
  type OpenRun,
  openRun,
  prepareRun,
  processesWith,
  rogueServer,
  sandbox,
} from '../../support/mcp/mcp-run.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const namesOf = ({ opened }: { opened: { tools: readonly { name: string }[] } }) =>
  opened.tools.map(({ name }) => name);

test('a run without MCP servers does not load the client', async () => {
  const { run } = await prepareRun([]);
  expect(await mcpTools(run)).toMatchObject({ tools: [], notes: [] });
});

test('without a sandbox a program is not started, and a note says so', async () => {
  const run = await openRun([goodServer()], { sandbox: null });
  expect(run.opened.tools).toEqual([]);
  expect(run.opened.notes).toEqual([
    'The MCP server "files" cannot be started: the sandbox is not available. Its tools are not available in this turn.',
  ]);
});

describe.skipIf(sandbox === null)('a server in the sandbox', () => {
  const ends: (() => void | Promise<void>)[] = [];
  let run: OpenRun;
  beforeAll(async () => {
    run = await openRun([goodServer()], {}, { onTestFinished: (end) => void ends.unshift(end) });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('offers its tools under its name, with their schemas, and what it says of itself', async () => {
    expect(namesOf(run)).toContain('mcp__files__add');
    const add = run.opened.tools.find(({ name }) => name === 'mcp__files__add')!;
    expect(add.description).toBe('Does add.');
    expect(add.inputSchema).toMatchObject({ type: 'object', required: ['a', 'b'] });
    expect(add.inputSchema).not.toHaveProperty('$schema');
    expect(run.opened.notes).toEqual(['What the MCP server "files" says of its tools: Add before you subtract.']);
  });

  test('is called with what fits the schema, and with nothing else', async () => {
    expect(await run.call('mcp__files__add', { a: 2, b: 3 })).toEqual({ ok: true, output: '5' });
    const refused = await run.call('mcp__files__add', { a: 'two', b: 3 });
    expect(refused).toMatchObject({ ok: false, output: expect.stringContaining('/a must be number') });
    expect(await run.call('mcp__files__fail')).toEqual({ ok: false, output: 'It is broken.' });
  });

  test('results of every type become text', async () => {
    expect((await run.call('mcp__files__mixed')).output.split('\n')).toEqual([
      'Here:',
      '[an image (image/png, 7 bytes), which is not shown here]',
      '[a sound (audio/wav, 5 bytes), which is not played here]',
      '[file:///a.txt (text/plain)]',
      'inside',
      '[a link to file:///b.txt ("b", unknown type)]',
    ]);
    expect(await run.call('mcp__files__structured')).toEqual({ ok: true, output: '{"answer":42}' });
  });

  test('has the workspace, the folders it was given, and neither other files nor the network', async () => {
    const secret = createServer((_, response) => response.end('secret'));
    await new Promise<void>((resolve) => secret.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(secret.address() as AddressInfo).port}/`;
    const run = await openRun([goodServer()]);
    expect(await run.call('mcp__files__write', { path: '/workspace/a.txt', words: 'from the server' })).toMatchObject({
      ok: true,
    });
    expect(readFileSync(join(run.brief.workspace, 'a.txt'), 'utf8')).toBe('from the server');
    expect((await run.call('mcp__files__read', { path: '/etc/shadow' })).output).toBe('ENOENT');
    expect((await run.call('mcp__files__read', { path: '/etc/resolv.conf' })).output).toBe('ENOENT');
    expect((await run.call('mcp__files__write', { path: `${import.meta.filename}.new`, words: 'x' })).ok).toBe(false);
    expect((await run.call('mcp__files__fetch', { url })).output).toBe('failed: ECONNREFUSED');
    const open = await openRun([goodServer({ stdio: { network: true } })]);
    expect((await open.call('mcp__files__fetch', { url })).output).toBe('secret');
    expect((await open.call('mcp__files__read', { path: '/etc/hosts' })).output).toContain('localhost');
    await new Promise((resolve) => secret.close(resolve));
  });

  test('has the variables it was given and nothing of the daemon, and they are in no list of processes', async () => {
    const word = randomUUID();
    const run = await openRun([
      goodServer({ stdio: { env: { API_TOKEN: word, SPACED: 'a b\n"c" $HOME' } }, secrets: [] }),
    ]);
    const environment = JSON.parse((await run.call('mcp__files__environment')).output) as Record<string, string>;
    expect(environment).toMatchObject({ API_TOKEN: word, SPACED: 'a b\n"c" $HOME', HOME: '/tmp' });
    const known = ['PATH', 'HOME', 'USER', 'LANG', 'TERM', 'TMPDIR', 'XDG_CACHE_HOME', 'PYTHONDONTWRITEBYTECODE'];
    const others = Object.keys(environment).filter((name) => !known.includes(name));
    expect(others.sort()).toEqual(
      ['API_TOKEN', 'OLDPWD', 'PWD', 'SHLVL', 'SPACED', '_', 'npm_config_cache']
        .filter((name) => name in environment)
        .sort(),
    );
    expect(processesWith(word)).toEqual([]);
  });

  test('hears that a call was canceled, and is gone when the run has closed', async () => {
    const word = randomUUID();
    const run = await openRun([goodServer({ stdio: { args: [...goodServerArgs(), word] } })]);
    const waiting = run.call('mcp__files__wait', { path: '/workspace/state' });
    const state = () => readFileSync(join(run.brief.workspace, 'state'), 'utf8');
    await waitFor(() => state() === 'waiting');
    run.stop();
    await expect(waiting).rejects.toThrow();
    await waitFor(() => state() === 'canceled');
    await run.opened.close();
    expect(processesWith(word)).toEqual([]);
  });

  test('that does not answer in time fails the call and can be called again', async () => {
    const run = await openRun([goodServer({ callTimeoutMs: 1_000 })]);
    expect(await run.call('mcp__files__wait', { path: '/workspace/state' })).toEqual({
      ok: false,
      output: 'The MCP server "files" did not answer within 1 seconds.',
    });
    // On a busy machine, the next answer may come too late as well.
    await waitFor(async () => (await run.call('mcp__files__add', { a: 1, b: 1 })).output === '2');
  });

  test('that reports progress has more time, but not forever', async () => {
    // Only all pauses together may reach the limit, whatever the machine adds to one of them.
    const run = await openRun([goodServer({ callTimeoutMs: 6_000 })]);
    expect(await run.call('mcp__files__progress', { steps: 14, pauseMs: 450 })).toEqual({ ok: true, output: 'done' });
    const hurried = await openRun([goodServer({ callTimeoutMs: 100 })]);
    const long = await hurried.call('mcp__files__progress', { steps: 1_000, pauseMs: 20 });
    expect(long.output).toBe('The MCP server "files" did not answer within 0.1 seconds.');
  });

  test('that dies in a call fails it, is started once more, and then not again', async () => {
    const run = await openRun([goodServer()]);
    const died = 'The MCP server "files" has ended: it exited with code 7.';
    expect(await run.call('mcp__files__die')).toEqual({ ok: false, output: died });
    expect(await run.call('mcp__files__add', { a: 1, b: 1 })).toEqual({ ok: true, output: '2' });
    expect(await run.call('mcp__files__die')).toEqual({ ok: false, output: died });
    expect(await run.call('mcp__files__add', { a: 1, b: 1 })).toEqual({
      ok: false,
      output: 'The MCP server "files" has ended and is not restarted in this turn.',
    });
    await waitFor(() => run.main.of('log').filter(({ message }) => message.includes('was lost')).length === 2);
  });

  test('that changes its tools keeps those of the start, which is logged', async () => {
    const run = await openRun([goodServer()]);
    expect(await run.call('mcp__files__change')).toEqual({ ok: true, output: 'changed' });
    expect(await run.call('mcp__files__late')).toMatchObject({ ok: false });
    await waitFor(() => run.main.of('log').some(({ message }) => message.includes('changed its tools')));
  });

  test('starts concurrently, and one that fails costs the run its own tools only', async () => {
    const run = await openRun([goodServer({ name: 'one' }), rogueServer('exit'), goodServer({ name: 'two' })]);
    expect(namesOf(run)).toEqual(expect.arrayContaining(['mcp__one__add', 'mcp__two__add']));
    expect(run.opened.notes).toContain(
      'The MCP server "rogue" has ended: it exited with code 3. Its tools are not available in this turn.',
    );
    const log = await waitFor(() => run.main.of('log').find(({ message }) => message.includes('could not be used')));
    const stderr = log.facts['stderr'] as string;
    expect(stderr).toMatch(/The config file is missing\.\n$/);
    expect(stderr.length).toBeLessThanOrEqual(8_192);
  });

  test('that complains of its credential has it in no log', async () => {
    const complain = ['-c', 'echo "bad token $TOKEN" >&2; exit 1'];
    const stdio = { command: '/bin/sh', args: complain, env: { TOKEN: 'Bearer sesame-open-123' } };
    const run = await openRun([goodServer({ stdio })]);
    const log = await waitFor(() => run.main.of('log').find(({ message }) => message.includes('could not be used')));
    expect(log.facts).toMatchObject({ mcp_server: 'files', stderr: 'bad token Bearer [credential]\n' });
  });

  test('that repeats its credential gives the agent none of it, in results and in errors', async () => {
    const env = { TOKEN: 'sesame-open-123', PLAIN: 'shown' };
    const run = await openRun([goodServer({ stdio: { env }, secrets: [env.TOKEN] })]);
    const { ok, output } = await run.call('mcp__files__environment');
    expect(ok).toBe(true);
    expect(JSON.parse(output)).toMatchObject({ TOKEN: '[credential]', PLAIN: 'shown' });
    const encoded = Buffer.from(env.TOKEN).toString('base64');
    await run.call('mcp__files__write', { path: '/workspace/a.txt', words: `it is ${encoded}` });
    expect((await run.call('mcp__files__read', { path: '/workspace/a.txt' })).output).toBe('it is [credential]');
  });

  test('that complains at length keeps no piece of its credential at the beginning of what is logged', async () => {
    const script = 'printf "%s" "$TOKEN" >&2; head -c 8184 /dev/zero | tr "\\0" x >&2; exit 1';
    const stdio = { command: '/bin/sh', args: ['-c', script], env: { TOKEN: 'sesame-open-123' } };
    const run = await openRun([goodServer({ stdio })]);
    const log = await waitFor(() => run.main.of('log').find(({ message }) => message.includes('could not be used')));
    expect(log.facts['stderr']).toMatch(/x{8000}$/);
    expect(log.facts['stderr']).not.toContain('open-123');
  });

  test('that complains of its credential shows none of it to whoever checks it', async () => {
    const complain = ['-c', 'echo "bad token $TOKEN" >&2; exit 1'];
    const stdio = { command: '/bin/sh', args: complain, env: { TOKEN: 'sesame-open-123' } };
    const grant = goodServer({ stdio, secrets: ['sesame-open-123'] });
    const report = await checkMcp({ kind: 'mcp', grant, workspace: temporaryDirectory(), sandbox, egress: [] });
    expect(report.stderr).toBe('bad token [credential]\n');
  });

  test('whose program is missing has an error of its own', async () => {
    const run = await openRun([goodServer({ stdio: { command: '/opt/nothing/here', args: [] } })]);
    expect(run.opened.notes).toEqual([
      'The MCP server "files" has ended: it exited with code 127. Its tools are not available in this turn.',
    ]);
  });

  test('whose folder is missing is reported, and the workspace is not harmed', async () => {
    const run = await openRun([goodServer({ stdio: { folders: ['/nothing/here'] } })]);
    expect(run.opened.tools).toEqual([]);
    expect(run.opened.notes[0]).toContain('The MCP server "files" has ended: The sandbox could not be built');
  });

  test('offers only the tools that were granted, and a note names missing ones', async () => {
    const run = await openRun([goodServer({ tools: ['add', 'nothing'] })]);
    expect(namesOf(run)).toEqual(['mcp__files__add']);
    expect(run.opened.notes).toContain('The MCP server "files" does not have: nothing.');
  });

  test('may write a large answer, within the limit of a message', async () => {
    const run = await openRun([goodServer()]);
    const { ok, output } = await run.call('mcp__files__large', { bytes: 4_000_000 });
    expect(ok).toBe(true);
    expect(output).toContain('4000000 bytes');
    const tooLarge = await run.call('mcp__files__large', { bytes: 9_000_000 });
    expect(tooLarge.output).toBe('The MCP server "files" has ended: it was ended because it sent too much.');
  });

  test('may write in the workspace, so the run counts as one that has touched it', async () => {
    const { run } = await prepareRun([goodServer()]);
    const opened = await mcpTools(run);
    expect(existsSync(run.brief.workspace)).toBe(true);
    await opened.close();
  });
});

const goodServerArgs = () => {
  const { transport } = goodServer();
  return transport.kind === 'stdio' ? transport.args : [];
};

describe.skipIf(sandbox === null)('a server that misbehaves', () => {
  test('and never answers is given up after its time', async () => {
    const word = randomUUID();
    const { transport } = rogueServer('hang');
    if (transport.kind !== 'stdio') return;
    const run = await openRun([
      rogueServer('hang', { startTimeoutMs: 500, stdio: { args: [...transport.args, word] } }),
    ]);
    expect(run.opened.notes).toEqual([
      'The MCP server "rogue" was not ready within 0.5 seconds. Its tools are not available in this turn.',
    ]);
    expect(processesWith(word)).toEqual([]);
  });

  test('and ends for no request is killed when the run closes', async () => {
    const word = randomUUID();
    const { transport } = rogueServer('deaf');
    if (transport.kind !== 'stdio') return;
    const run = await openRun([rogueServer('deaf', { stdio: { args: [...transport.args, word] } })]);
    expect(namesOf(run)).toEqual(['mcp__rogue__go']);
    expect(processesWith(word)).not.toEqual([]);
    await run.opened.close();
    expect(processesWith(word)).toEqual([]);
  });

  test('by a stop of the run while it starts is ended at once', async () => {
    const word = randomUUID();
    const { transport } = rogueServer('hang');
    if (transport.kind !== 'stdio') return;
    const prepared = await prepareRun([rogueServer('hang', { stdio: { args: [...transport.args, word] } })]);
    const opening = mcpTools(prepared.run);
    await waitFor(() => processesWith(word).length > 0);
    prepared.stop();
    await expect(opening).rejects.toThrow();
    expect(processesWith(word)).toEqual([]);
  });

  test.each([['flood-stdout'], ['flood-in-call'], ['one-long-line']])('by %s is cut off', async (mode) => {
    const run = await openRun([rogueServer(mode)]);
    const words = mode === 'flood-stdout' ? run.opened.notes[0] : (await run.call('mcp__rogue__go')).output;
    expect(words).toContain('The MCP server "rogue" has ended: it was ended because it sent too much.');
  });

  test('by flooding its standard error is read on, and costs nothing', async () => {
    const run = await openRun([rogueServer('flood-stderr')]);
    expect(await run.call('mcp__rogue__go')).toEqual({ ok: true, output: 'ok' });
  });

  test('by greeting on the wrong stream is forgiven', async () => {
    const run = await openRun([rogueServer('greet')]);
    expect(await run.call('mcp__rogue__go')).toEqual({ ok: true, output: 'ok' });
  });

  test('by taking all memory is ended', async () => {
    const run = await openRun([rogueServer('eat-memory')], { sandbox: { ...sandbox!, memoryBytes: 600 * 1_048_576 } });
    const { ok, output } = await run.call('mcp__rogue__go');
    expect(ok).toBe(false);
    expect(output).toMatch(/has ended: it (was ended because it took too much memory|exited|was killed)/);
  });

  test.each([
    ['wrong-answer', 'The MCP server "rogue" sent a reply that violates the protocol.'],
    ['error-answer', 'The MCP server "rogue" refused: No such tool (code -32602).'],
  ])('by %s fails the call alone', async (mode, words) => {
    const run = await openRun([rogueServer(mode)]);
    expect(await run.call('mcp__rogue__go')).toEqual({ ok: false, output: words });
  });

  test('by its list of tools is reported', async () => {
    const run = await openRun([rogueServer('no-list')]);
    expect(run.opened.notes[0]).toContain('sent a list of tools that violates the protocol');
  });

  test('with three hundred tools lends two hundred, or any that were granted by name', async () => {
    const run = await openRun([rogueServer('many')]);
    expect(run.opened.tools).toHaveLength(200);
    const [note] = run.opened.notes;
    expect(note).toContain(
      'Unusable tools of the MCP server "rogue": "tool_200" (the server lists more than 200 tools), ',
    );
    expect(note).toMatch(/"tool_209" \([^)]+\) and 90 more\.$/);
    await waitFor(() => run.main.signals.some(({ t }) => t === 'tools-listed'));
    expect(run.main.signals.find(({ t }) => t === 'tools-listed')).toMatchObject({
      leftOut: Array.from({ length: 100 }, (_, at) => ({ name: `tool_${at + 200}` })),
      surplus: 0,
    });
    const few = await openRun([rogueServer('many', { tools: ['tool_299'] })]);
    expect(namesOf(few)).toEqual(['mcp__rogue__tool_299']);
    expect(await few.call('mcp__rogue__tool_299')).toMatchObject({ ok: true });
  });

  test('with more than a megabyte of schemas lends what fits', async () => {
    const run = await openRun([rogueServer('large')]);
    expect(run.opened.tools).toHaveLength(34);
    const why = "with it, the schemas of the server's tools are larger than 1 MB";
    expect(run.opened.notes[0]).toContain(`Unusable tools of the MCP server "rogue": "tool_34" (${why}), `);
  });

  test('with pages without end is read so far and no further', async () => {
    const run = await openRun([rogueServer('endless-pages')]);
    expect(run.opened.tools).toHaveLength(64);
  });

  test('with names that no model takes gets others, each its own', async () => {
    const run = await openRun([rogueServer('names')]);
    const names = namesOf(run);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(names).toContain('mcp__rogue__plain');
    expect(names).toHaveLength(6);
    const again = await openRun([rogueServer('names')]);
    expect(namesOf(again)).toEqual(names);
  });

  test('a tool that can only be called as a task is left out, and a note says why', async () => {
    const run = await openRun([rogueServer('tasks')]);
    expect(namesOf(run)).toEqual(['mcp__rogue__plain', 'mcp__rogue__either', 'mcp__rogue__odd']);
    expect(run.opened.notes[0]).toContain('"report" (it can only be called as a task, which Errand does not support)');
  });

  test('that lists its tools carelessly lends those that can be mended, and what cannot be is named with its reason', async () => {
    const run = await openRun([rogueServer('sloppy')]);
    const mended = Object.entries(MENDED_TOOLS as Record<string, { input?: Record<string, unknown> }>);
    expect(namesOf(run)).toEqual(mended.map(([name]) => `mcp__rogue__${name}`));
    for (const { name, inputSchema } of run.opened.tools) {
      expect([name, inputSchema]).toEqual([
        name,
        expect.objectContaining({ type: 'object', properties: expect.any(Object) as object }),
      ]);
      for (const word of ['anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'not'])
        expect(inputSchema).not.toHaveProperty([word]);
      expect(new Ajv2020({ strict: false }).validateSchema(inputSchema)).toBe(true);
    }
    for (const [name, { input }] of mended)
      expect([name, await run.call(`mcp__rogue__${name}`, input)]).toEqual([name, { ok: true, output: 'ok' }]);
    const leftOut = [
      { name: 'list', why: 'its type is not object' },
      { name: 'words', why: 'its type is not object' },
      { name: 'odd_type', why: 'it is not a valid JSON Schema' },
      { name: '', why: 'it has no name' },
      { name: '', why: 'it is not an object' },
    ];
    expect(run.opened.notes).toEqual([
      `Unusable tools of the MCP server "rogue": ${leftOut.map(({ name, why }) => `"${name}" (${why})`).join(', ')}.`,
    ]);
    await waitFor(() => run.main.signals.some(({ t }) => t === 'tools-listed'));
    expect(run.main.signals).toContainEqual({ t: 'tools-listed', server: 'rogue', leftOut, surplus: 0 });
  });

  test('with hostile schemas keeps the tools whose schemas are good', async () => {
    const run = await openRun([rogueServer('schemas')]);
    const names = ['good', 'promises', 'same_id', 'remote', 'dangling', 'backtracking', 'slow_pattern', 'none'];
    expect(namesOf(run)).toEqual(names.map((name) => `mcp__rogue__${name}`));
    const note = run.opened.notes[0];
    expect(note).toContain('"invalid" (it is not a valid JSON Schema)');
    expect(note).toContain('"array" (its type is not object)');
    expect(note).toContain('"deep" (it nests deeper than 64 levels)');
    expect(note).toContain('"huge" (it is larger than 64 KB)');
    const good = (input: object) => run.call('mcp__rogue__good', { ...input });
    expect(await good({ it: 'aaa', pair: ['a', 1] })).toMatchObject({ ok: true });
    expect(await good({ it: 'b' })).toMatchObject({ ok: false, output: expect.stringContaining('/it must match') });
    expect(await good({ it: 'a', pair: [1, 1] })).toMatchObject({ ok: false });
    expect(await run.call('mcp__rogue__promises')).toMatchObject({
      ok: false,
      output: expect.stringContaining("must have required property 'a'"),
    });
    expect(await run.call('mcp__rogue__remote', { a: 1 })).toMatchObject({ ok: true });
    expect(await run.call('mcp__rogue__backtracking', { a: `${'a'.repeat(40)}!` })).toMatchObject({ ok: true });
    // Where a pattern could backtrack, this would not end.
    expect(await run.call('mcp__rogue__slow_pattern', { a: `${'a'.repeat(40)}!` })).toMatchObject({ ok: false });
  });
});
