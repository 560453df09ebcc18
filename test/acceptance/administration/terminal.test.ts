// The command in a real terminal: the log of serve, a terminal that is stopped, lists that fit. Needs tmux.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../../support/time/wait-for.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('SKIPPED: the command is not tested in a terminal, there is no tmux');

const ERRAND = fileURLToPath(new URL('../../../bin/errand', import.meta.url));
const COLUMNS = 60;
/** Their lines together are more than a terminal and the daemon hold. */
const REQUESTS = 400;
const LONG_PATH = `/${'x'.repeat(8_000)}`;

/** A shell on a terminal of the test's own. */
function openTerminal() {
  const directory = mkdtempSync('/tmp/errand-terminal-');
  const socket = path.join(directory, 'tmux');
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { maxBuffer: 2 ** 28 }).toString();
  onTestFinished(() => {
    spawnSync('tmux', ['-S', socket, 'kill-server']);
    rmSync(directory, { recursive: true, force: true });
  });
  tmux('new-session', '-d', '-x', String(COLUMNS), '-y', '50', `env PS1='> ' NO_COLOR=1 bash --norc`);
  /** All that was printed, wrapped lines joined. */
  const printed = () => tmux('capture-pane', '-p', '-J', '-S', '-');
  return {
    dataDir: path.join(directory, 'data'),
    printed,
    press: (...keys: readonly string[]) => tmux('send-keys', ...keys),
    until: (text: RegExp) =>
      waitFor(() => {
        const found = text.exec(printed());
        return found === null ? false : found;
      }),
  };
}

test.skipIf(!hasTmux)(
  'serve logs lines for people, a stopped terminal does not stop the daemon, and lists fit beside it',
  async () => {
    const { dataDir, press, printed, until } = openTerminal();
    press(`${ERRAND} serve --data-dir ${dataDir} --listen 127.0.0.1:0; echo ended with $?`, 'Enter');
    const [, url = ''] = await until(/Listening on (http:\/\/127\.0\.0\.1:\d+)/);
    await until(/\d\d:\d\d:\d\d\.\d{3} info {2}ready version=/);
    expect(printed()).not.toContain('{"level"');

    press('C-s');
    for (let sent = 0; sent < REQUESTS; sent += 1) expect((await fetch(url + LONG_PATH)).status).toBe(404);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    press('C-q');
    await until(/\d\d:\d\d:\d\d\.\d{3} warn {2}\d+ lines dropped: the log could not be written dropped=\d+/);

    const list = openTerminal();
    list.press(`${ERRAND} users list --data-dir ${dataDir}; echo done`, 'Enter');
    await list.until(/^done$/m);
    const row = list
      .printed()
      .split('\n')
      .find((line) => line.includes(' admin '));
    expect(row).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4} {2}admin .* no$/);

    press('C-c');
    await until(/ended with 0/);
  },
);
