// The real view in a real terminal: what is on the screen, and what is left of it afterwards. Needs tmux.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import {
  anEntity,
  anEvent,
  aSnapshot,
  aTodayItem,
  type OfficeServer,
  startOfficeServer,
} from '../../support/http/office-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('SKIPPED: the terminal view is not tested, there is no tmux');

const ERRAND = fileURLToPath(new URL('../../../bin/errand', import.meta.url));

/** Runs the view on a terminal of the test's own, then a shell that says how it ended. */
async function open(server: OfficeServer, environment = 'COLORTERM=truecolor') {
  const directory = mkdtempSync('/tmp/errand-office-');
  const socket = path.join(directory, 'tmux');
  const keyFile = path.join(directory, 'key');
  writeFileSync(keyFile, 'errand_key');
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args]).toString();
  onTestFinished(() => {
    spawnSync('tmux', ['-S', socket, 'kill-server']);
    rmSync(directory, { recursive: true, force: true });
  });
  const command = `echo before; env ${environment} ${ERRAND} office --url ${server.url()} --token-file ${keyFile} --tz UTC; echo ended $?; exec sleep 600`;
  tmux('new-session', '-d', '-x', '100', '-y', '24', command);
  const screen = () => tmux('capture-pane', '-p');
  const until = (text: string | RegExp) =>
    waitFor(() => (typeof text === 'string' ? screen().includes(text) : text.test(screen())));
  return {
    screen,
    colours: () => tmux('capture-pane', '-p', '-e'),
    until,
    press: (...keys: readonly string[]) => tmux('send-keys', ...keys),
    resize: (columns: number, rows: number) => tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    /** Which modes of the terminal are on. */
    modes: () => tmux('display-message', '-p', '#{alternate_on} #{mouse_any_flag} #{cursor_flag}').trim(),
    pid: () => Number(tmux('display-message', '-p', '#{pane_pid}')),
  };
}

async function fixture(): Promise<OfficeServer> {
  const server = await startOfficeServer(
    aSnapshot([anEntity(1), anEntity(2, { session_title: 'evil \u001b]0;x\u0007\u202e title' })]),
  );
  server.today = [aTodayItem(1, { session_title: 'Only today' })];
  onTestFinished(() => server.die());
  return server;
}

test.skipIf(!hasTmux)(
  'the floor lives: events, a daemon that restarts, every size, and the terminal as it was',
  async () => {
    const server = await fixture();
    const view = await open(server);
    await view.until('● live');
    expect(view.modes()).toBe('1 1 0');
    await view.until('evil title');

    // A daemon's next snapshot has what its events said.
    const [first, ...others] = server.snapshot.entities;
    server.snapshot = aSnapshot([{ ...first!, detail: 'writes report.md' }, ...others]);
    server.emit(anEvent(1, 'tool_use', { name: 'write_file', input: { path: '/report.md' } }));
    await view.until('writes report.md');
    await server.die();
    await view.until(/not reachable|reconnecting/);
    server.emit(anEvent(1, 'run.failed', { error: { message: 'No model answered.' } }));
    server.snapshot = aSnapshot([anEntity(2), anEntity(1, { status: 'failed', last_error: 'No model answered.' })]);
    await server.rise();
    await view.until(/✗.*No model answ/);
    await view.until('● live');

    view.resize(20, 5);
    await view.until('needs 60×15');
    view.resize(60, 15);
    await view.until(/✗.*Plot the sales/);

    view.press('T');
    await view.until('Only today');
    view.press('?');
    await view.until('page before');
    view.press('Escape');
    // Together, the two keys would be Alt and q.
    await waitFor(() => !view.screen().includes('page before'));
    view.press('q');
    await view.until('ended 0');
    expect(view.modes()).toBe('0 0 1');
    expect(view.screen()).toContain('before');
    // The view has ended; its server learns of it a moment later.
    await waitFor(() => server.watchers() === 0);
  },
);

test.skipIf(!hasTmux)('the pager gets the terminal, and gives it back to the view as it was', async () => {
  const server = await fixture();
  server.emit(anEvent(1, 'tool_use', { tool_use_id: 'a', name: 'shell', input: { command: 'echo \u001b[5mhi' } }));
  const view = await open(server, 'COLORTERM=truecolor PAGER=less');
  await view.until('● live');
  // The stream may be there before the rows.
  await view.until('Plot the sales');
  view.press('Enter');
  await view.until('shell: echo');
  view.press('v');
  await view.until(/command: echo \\u001b\[5mhi[^]*(END|:)/);
  expect(view.modes()).toBe('1 0 1');
  view.press('q');
  await view.until(/1 Live/);
  // The mouse is asked for once the view is drawn.
  await waitFor(() => view.modes() === '1 1 0');
  view.press('Escape');
  await view.until('All runs');
  view.press('q');
  await view.until('ended 0');
  expect(view.modes()).toBe('0 0 1');
});

test.skipIf(!hasTmux)('without colours there are none, and SIGTERM leaves the terminal as it was', async () => {
  const server = await fixture();
  const view = await open(server, 'NO_COLOR=1');
  await view.until('● live');
  // oxlint-disable-next-line no-control-regex
  expect(view.colours()).not.toMatch(/\u001b\[[0-9;]*[34][0-8]/);
  const children = execFileSync('pgrep', ['-P', String(view.pid())])
    .toString()
    .trim()
    .split('\n');
  for (const pid of children) process.kill(Number(pid), 'SIGTERM');
  await view.until('ended 143');
  expect(view.modes()).toBe('0 0 1');
});

test('other commands start without what only the view needs', () => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => {
      if (/^(ink|react|@inkjs)/.test(name)) process.stderr.write('loaded ' + name);
      return next(name, context);
    } });`;
  const load = (...args: readonly string[]) =>
    spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, `${ERRAND}.cjs`, ...args],
      {
        encoding: 'utf8',
      },
    );
  expect(load('version')).toMatchObject({ status: 0, stderr: '' });
  expect(load('office', '--help')).toMatchObject({ status: 0, stderr: '' });
});
