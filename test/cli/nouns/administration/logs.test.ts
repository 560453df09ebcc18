// `errand logs`: what is shown of a file and of the journal.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { nodeId } from '../../../support/store/nodes.ts';
import { makeDirectory, run, startFakeDaemon } from '../../outside.ts';

const RUN = '0190f6a0-0000-7000-8000-00000000000a';
const entry = (level: string, msg: string, more: object = {}) =>
  JSON.stringify({ level, time: '2026-03-01T12:03:04.005Z', ...more, msg });
const LINES = [
  'Listening on http://127.0.0.1:8484',
  entry('debug', 'a detail'),
  entry('info', 'run completed', { run_id: RUN, session_id: 'abcd1' }),
  entry('warn', 'run failed', { run_id: `${RUN.slice(0, -1)}b`, session_id: 'abcd2' }),
  entry('error', 'of long ago', { time: '2020-01-01T00:00:00.000Z' }),
];

function logFile(): string {
  const file = join(makeDirectory(), 'errand.log');
  writeFileSync(file, `${LINES.join('\n')}\n`);
  return file;
}

test('a file is shown for people, and as it is on request', async () => {
  const file = logFile();
  const shown = await run(['logs', '--file', file]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain('Listening on http://127.0.0.1:8484\n');
  expect(shown.stdout).toMatch(/^2026-03-0[12] \d\d:\d\d:04\.005 info {2}run completed run_id=0190f6a0/m);
  const raw = await run(['logs', '--file', file, '-o', 'json', '--level', 'warn']);
  expect(raw.stdout.trimEnd().split('\n')).toEqual(LINES.slice(3));
  const all = await run(['logs', '--file', file, '-o', 'json']);
  expect(all.stdout.trimEnd().split('\n')).toEqual([`{"msg":"${LINES[0]}"}`, ...LINES.slice(1)]);
});

test.each([
  [
    ['--level', 'warn'],
    ['run failed', 'of long ago'],
  ],
  [['--run', RUN], ['run completed']],
  [['--session', 'abcd2'], ['run failed']],
  [
    ['--since', '2026-01-01'],
    ['a detail', 'run completed', 'run failed'],
  ],
])('only what is wanted is shown: %o', async (options, messages) => {
  const { stdout } = await run(['logs', '--file', logFile(), '-o', 'json', ...options]);
  const shown = stdout.trimEnd().split('\n');
  expect(shown.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(messages);
});

test('without a file, journalctl is asked for the unit, and its lines are shown alike', async () => {
  const directory = makeDirectory();
  const journalctl = join(directory, 'journalctl');
  writeFileSync(journalctl, `#!/bin/sh\necho "$@"\necho '${LINES[2]}'\n`);
  chmodSync(journalctl, 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`);
  const { stdout } = await run(['logs', '--since', '2026-01-01T00:00:00Z', '--unit', 'errand@two', '-o', 'json']);
  const [asked, ...lines] = stdout.trimEnd().split('\n');
  expect(asked).toMatch(/^\{"msg":"--unit errand@two --output=cat --no-pager .*--since=@1767225600"\}$/);
  expect(lines).toEqual([LINES[2]]);
  expect((await run(['logs', '--level', 'info', '-o', 'json'])).stdout).toBe(`${LINES[2]}\n`);
  writeFileSync(journalctl, '#!/bin/sh\nexit 0\n');
  expect(await run(['logs'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('systemd-journal'),
  });
  writeFileSync(journalctl, '#!/bin/sh\necho "No permission." >&2\nexit 1\n');
  const refused = await run(['logs']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('No permission.') });
  expect(refused.stderr).toContain('systemd-journal');
});

/** A journalctl that has the lines, and none that come. `asked` is the file of its arguments. */
function journalOf(lines: readonly string[], cursor: string): { readonly asked: string } {
  const directory = makeDirectory();
  const asked = join(directory, 'asked');
  const shown = [...lines, cursor].map((line) => `'${line}'`).join(' ');
  const script = `#!/bin/sh
echo "$@" >>${asked}
case "$*" in *--show-cursor*) [ -n "${cursor}" ] || exit 1; printf '%s\\n' ${shown} ;; esac`;
  writeFileSync(join(directory, 'journalctl'), script);
  chmodSync(join(directory, 'journalctl'), 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`);
  return { asked };
}

test('who follows the journal sees the last lines that are wanted, and then what comes after them', async () => {
  const quiet = Array.from({ length: 30 }, (_, at) => entry('info', `quiet ${at}`));
  const loud = Array.from({ length: 12 }, (_, at) => entry('warn', `loud ${at}`));
  const { asked } = journalOf([...loud, ...quiet], '-- cursor: s=1;i=2');
  const { stdout } = await run(['logs', '-f', '--level', 'warn', '-o', 'json']);
  expect(stdout.trimEnd().split('\n')).toEqual(loud.slice(2));
  const [before, after] = readFileSync(asked, 'utf8').trimEnd().split('\n');
  expect(before).not.toContain('--follow');
  expect(after).toMatch(/--after-cursor=s=1;i=2 --follow --no-tail$/);
});

test('who follows a journal without lines waits for those that come', async () => {
  const { asked } = journalOf([], '');
  expect((await run(['logs', '-f'])).code).toBe(0);
  expect(readFileSync(asked, 'utf8')).toMatch(/--since=@\d+ --follow --no-tail\n$/);
});

test('without a journal, the command says how to name a file; one that is not there is named', async () => {
  vi.stubEnv('PATH', makeDirectory());
  const none = await run(['logs']);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('--file FILE');
  const gone = await run(['logs', '--file', '/nowhere/errand.log']);
  expect(gone).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("/nowhere/errand.log can't be read (ENOENT)"),
  });
  expect((await run(['logs', '--since', 'yesterday'])).code).toBe(2);
});

test('where there are several nodes, the log says whose it is', async () => {
  journalOf([LINES[2]!], '-- cursor: s=1;i=2');
  const [node, other] = [
    { id: nodeId(1), name: 'north' },
    { id: nodeId(2), name: 'south' },
  ];
  let nodes = [node, other];
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/status': () => ({ node, nodes }) });
  const { stderr } = await run(['logs', '-f'], { dataDir });
  expect(stderr).toBe(`The log of node north (${nodeId(1)}); each node has one of its own.\n`);
  expect((await run(['logs', '-f', '-o', 'json'], { dataDir })).stderr).toBe('');
  nodes = [node];
  expect((await run(['logs', '-f'], { dataDir })).stderr).toBe('');
});
