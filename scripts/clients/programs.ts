// Runs the programs of clients: once, or in a terminal that is read and typed into.
import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/support/time/wait-for.ts';

const WITHIN_MS = 120_000;

interface ProgramCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its home; it runs in `work` there. */
  readonly home: string;
}

/** Nothing of the environment of the trial but where programs are. */
const environment = (home: string) => ({
  PATH: process.env['PATH'],
  HOME: home,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
});

/** Returns what it prints. @throws when it ends with another code than 0, or not within two minutes. */
export async function runProgram({ file, args, env, home }: ProgramCall): Promise<string> {
  const running = promisify(execFile)(file, args, {
    cwd: path.join(home, 'work'),
    env: { ...environment(home), ...env },
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 10_000_000,
  });
  // Some wait for the end of their input before they begin.
  running.child.stdin?.end();
  return (await running).stdout;
}

/** A program in a terminal of its own. */
export interface Screen {
  /** Types a line, and ends it until the program takes it and shows the answer. */
  ask(line: string, answer: string): Promise<void>;
  /** Resolves when this can be read there. */
  shows(text: string): Promise<void>;
  close(): void;
}

export async function openScreen({ file, args, home }: Omit<ProgramCall, 'env'>): Promise<Screen> {
  const tmux = (...words: string[]): string =>
    execFileSync('tmux', ['-S', path.join(home, 'tmux'), ...words], {
      encoding: 'utf8',
      cwd: path.join(home, 'work'),
      env: environment(home),
    });
  const has = (text: string): boolean => tmux('capture-pane', '-p').includes(text);
  const shows = async (text: string): Promise<void> => {
    await waitFor(() => has(text), { what: `${text} on the screen of ${file}` });
  };
  tmux('new-session', '-d', '-x', '120', '-y', '40', file, ...args);
  return {
    ask: async (line, answer) => {
      tmux('send-keys', '-l', line);
      await shows(line);
      const isAnswered = (): boolean => {
        tmux('send-keys', 'Enter');
        return has(answer);
      };
      await waitFor(isAnswered, { everyMs: 1_000, what: `${answer} on the screen of ${file}` });
    },
    shows,
    close: () => void tmux('kill-server'),
  };
}
