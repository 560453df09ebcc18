// A conversation with the real daemon in a real terminal: tools, Ctrl-C, and a daemon that dies under it. Needs tmux.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { ModelQuestion, Reply } from '../../support/model/model-reply.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('SKIPPED: errand chat is not tested in a terminal without tmux');

const ERRAND = fileURLToPath(new URL('../../../bin/errand', import.meta.url));

/** Half an answer, and then silence. */
const HANGS: Reply = { text: ['Half of ', 'it.'], hang: 'mid-stream', afterDeltas: 1 };

function script({ userText, step }: ModelQuestion): Reply {
  if (userText === 'hang') return HANGS;
  if (userText.startsWith('write') && step === 0) {
    return { text: 'Writing.', tools: [{ name: 'write_file', input: { path: '/notes.md', content: 'Hello!' } }] };
  }
  return { text: `Heard ${JSON.stringify(userText)}.` };
}

/** A shell on a terminal of the test's own. */
function openTerminal(environment: Readonly<Record<string, string>>) {
  const directory = mkdtempSync('/tmp/errand-chat-');
  const socket = path.join(directory, 'tmux');
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { maxBuffer: 2 ** 28 }).toString();
  onTestFinished(() => {
    spawnSync('tmux', ['-S', socket, 'kill-server']);
    rmSync(directory, { recursive: true, force: true });
  });
  const variables = Object.entries({ PS1: '$ ', NO_COLOR: '1', XDG_STATE_HOME: directory, ...environment });
  const set = variables.map(([name, value]) => `${name}='${value}'`).join(' ');
  tmux('new-session', '-d', '-x', '100', '-y', '60', `env ${set} bash --norc`);
  const printed = () => tmux('capture-pane', '-p', '-J', '-S', '-').trimEnd();
  return {
    printed,
    history: path.join(directory, 'errand', 'chat-history'),
    press: (...keys: readonly string[]) => tmux('send-keys', ...keys),
    paste: (text: string) => {
      tmux('set-buffer', text);
      tmux('paste-buffer', '-p');
    },
    until: (text: RegExp) => waitFor(() => text.test(printed()), { what: `${text} is printed` }),
  };
}

test.skipIf(!hasTmux)(
  'a conversation: tools, a stopped run, a daemon killed in the middle of an answer, and the terminal as it was',
  async () => {
    const model = await startModelServer();
    onTestFinished(() => model.close());
    model.script(script);
    const daemon = await startDaemonProcess({ modelServerUrl: model.url });
    onTestFinished(() => daemon.close());
    const { printed, history, press, paste, until } = openTerminal({ ERRAND_API_KEY: daemon.apiKey });
    const prompt = /\n>$/;

    press(`${ERRAND} chat --url ${daemon.url}; echo ended $?`, 'Enter');
    await until(prompt);
    press('write it', 'Enter');
    await until(/Writing\.\n\* write_file \/notes\.md\n {2}✓ write_file[^\n]*\nHeard "write it"\.\n>$/);
    // The files of a run are known a moment after its end.
    await waitFor(
      () => {
        press('/files', 'Enter');
        return / 6 B {2}\/?notes\.md\n/.test(printed());
      },
      { everyMs: 500 },
    );
    paste('two\nlines');
    press('Enter');
    await until(/Heard "two\\nlines"\.\n>$/);

    press('hang', 'Enter');
    await until(/> hang\nHalf of$/);
    press('C-c');
    await until(/Stopping\.[^\n]*\nStopped\.\n>$/);
    press('Up', 'Up', 'Enter');
    await waitFor(() => printed().match(/Heard "two\\nlines"\./g)?.length === 2);
    await until(prompt);

    press('hang', 'Enter');
    await until(/Half of$/);
    await daemon.kill();
    await until(/Connection lost, reconnecting\.$/);
    model.script({ text: ['The whole', ' answer.'] });
    await daemon.restart();
    await until(/reconnecting\.\nThe whole answer\.\n>$/);
    expect(printed().match(/The whole answer\./g)).toHaveLength(1);

    press('C-c');
    await until(/Ctrl-C again ends the conversation\.\n>$/);
    press('C-c');
    await until(/Continue with: \S* --url \S+ chat --session [0-9a-f-]{36}\nended 0\n\$$/);
    press('stty -a', 'Enter');
    await until(/ icanon /);
    expect(statSync(history).mode & 0o777).toBe(0o600);
  },
  180_000,
);
