// What a list looks like on terminals of several widths, and that nothing of it is lost in a pipe.
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { NOW, run, type Setting, startFakeDaemon } from '../outside.ts';

const sessionOf = (at: number, title: string, status: string) => ({
  session_id: `0190f6a${at}-0000-7000-8000-000000000001`,
  status,
  username: '山田',
  key_id: 'abcdEFGH',
  updated_at: new Date(NOW - 3 * 60_000).toISOString(),
  title,
});
const SESSIONS = [
  sessionOf(
    1,
    'A title that is so long that no terminal of a usual width has the room to show all of it to anybody',
    'running',
  ),
  sessionOf(2, '四半期の売上報告書を作成してください。グラフも含めて、できるだけ詳しくお願いします。', 'failed'),
  sessionOf(3, '\u001b[2J\u202e👨‍👩‍👧‍👦 שלום', 'completed'),
];

async function listed(setting: Setting, ...flags: string[]) {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/sessions': () => ({ items: SESSIONS, total: 3 }) });
  const { stdout, stderr } = await run(['sessions', 'list', ...flags], { dataDir, ...setting });
  return { lines: stdout.trimEnd().split('\n'), stdout, stderr };
}

const onTerminal = (columns: number, environment: Record<string, string> = { NO_COLOR: '1' }): Setting => ({
  columns,
  environment,
  terminal: { stdout: true, stderr: true },
});

test.each([20, 40, 60, 80, 120, 200])('on a terminal of %i columns no line is wider', async (columns) => {
  const { lines, stderr } = await listed(onTerminal(columns));
  for (const line of [...lines, ...stderr.split('\n')]) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  expect(lines).toHaveLength(4);
});

test('on 80 columns the state has its glyph, the id and the time are short, and what is left out is named', async () => {
  const { lines, stderr } = await listed(onTerminal(80));
  expect(lines[1]).toMatch(/^0190f6a1-0000 {2}● running {4}山田 {6}3 min ago {3}A title that is so long t.*…$/);
  expect(lines[2]).toMatch(/^0190f6a2-0000 {2}✗ failed /);
  expect(stderr).toBe('--wide also shows: key id\n');
});

test('on 200 columns everything is shown', async () => {
  const { lines, stderr } = await listed(onTerminal(200));
  expect(lines[0]).toBe('SESSION ID     STATUS       USERNAME  KEY ID    UPDATED AT  TITLE');
  expect(lines[1]).toContain(SESSIONS[0]!.title);
  expect(stderr).toBe('');
});

test('with --wide every value is shown in full, whatever the width', async () => {
  const { lines } = await listed(onTerminal(40), '--wide');
  for (const { session_id: id, key_id: key, updated_at: at } of SESSIONS) {
    const line = lines.find((one) => one.startsWith(id));
    expect(line).toContain(key);
    expect(line).toContain(at);
  }
  expect(lines[1]).toContain(SESSIONS[0]!.title);
});

test('in a pipe every value is complete, without heading, glyph or colour, whatever FORCE_COLOR says', async () => {
  const { stdout } = await listed({ columns: 40, environment: { FORCE_COLOR: '1' } });
  const expected = SESSIONS.map((one) =>
    [one.session_id, one.status, one.username, one.key_id, one.updated_at, one.title].join('\t'),
  ).map((line) => line.replace('\u001b[2J\u202e', '\\u001b[2J\\u202e'));
  expect(stdout).toBe(`${expected.join('\n')}\n`);
});

test('a coloured table lines up like one without colours', async () => {
  const plain = await listed(onTerminal(80));
  const coloured = await listed(onTerminal(80, {}));
  expect(coloured.stdout).toContain('\u001b[31m✗ failed\u001b[39m');
  // oxlint-disable-next-line no-control-regex
  expect(coloured.stdout.replace(/\u001b\[\d+m/g, '')).toBe(plain.stdout);
});

test('a list without rows says so', async () => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/sessions': () => ({ items: [], total: 0 }) });
  expect((await run(['sessions', 'list'], { dataDir, ...onTerminal(80) })).stderr).toBe('There are none.\n');
  expect((await run(['sessions', 'list'], { dataDir })).stderr).toBe('');
});

test('one thing alone is shown with whole ids, and times in both ways', async () => {
  const [session] = SESSIONS;
  const { dataDir } = await startFakeDaemon({ [`GET /api/v1/sessions/${session!.session_id}`]: () => session });
  const { stdout } = await run(['sessions', 'show', session!.session_id], { dataDir, ...onTerminal(40) });
  expect(stdout).toContain(`session id          ${session!.session_id}\n`);
  expect(stdout).toContain(`updated at          ${session!.updated_at} (3 min ago)\n`);
});

test('a finding that is too long is broken into lines under its heading, and nothing of it is lost', async () => {
  const detail = `The endpoint refused the key: ${'please read all of this '.repeat(6)}and act`;
  const check = { name: 'qwen', ok: true, first_token_ms: null, tokens_per_second: null };
  const { dataDir } = await startFakeDaemon({
    'POST /api/v1/models/qwen/check': () => ({ ...check, findings: [{ check: 'stream', state: 'warning', detail }] }),
  });
  const { stdout } = await run(['models', 'check', 'qwen'], { dataDir, ...onTerminal(60) });
  const [heading, ...lines] = stdout.trimEnd().split('\n');
  const start = heading!.indexOf('DETAIL');
  expect(lines.map((line) => line.slice(start)).join(' ')).toBe(detail);
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(60);
});
