// Terminals to take pictures of: windows of a tmux server of their own.
import { execFileSync, spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Scene } from './scenes.ts';

/** A terminal in which a command runs. */
export interface Screen {
  /** One key after another, as a person types: each is shown before the next. */
  press(keys: readonly string[]): Promise<void>;
  /** Waits until the screen shows a text. */
  until(text: string): Promise<void>;
  /** The lines as shown, with their SGR sequences. */
  lines(): readonly string[];
}

const ENVIRONMENT = { COLORTERM: 'truecolor', COLORFGBG: '15;0', NO_COLOR: '' };
const PATIENCE_MS = 60_000;
const KEY_MS = 300;

const tmux = (...args: readonly string[]) =>
  execFileSync('tmux', ['-L', 'pictures', '-f', '/dev/null', ...args], { encoding: 'utf8' });

/** Runs a command line in a new terminal, and leaves what it printed on the screen. */
export function openScreen({ name, columns, rows, environment: own = {} }: Scene, command: string): Screen {
  const [x, y] = [String(columns), String(rows)];
  const environment = Object.entries({ ...ENVIRONMENT, ...own }).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  tmux('new-session', '-d', '-s', name, '-x', x, '-y', y, ...environment, `${command}; exec sleep 3600`);
  const shown = () => tmux('capture-pane', '-p', '-t', name);
  return {
    press: async (keys) => {
      for (const key of keys) {
        tmux('send-keys', '-t', name, key);
        await pause(KEY_MS);
      }
    },
    until: async (text) => {
      const deadline = performance.now() + PATIENCE_MS;
      while (!shown().includes(text)) {
        if (performance.now() > deadline) throw new Error(`${name} never showed "${text}":\n${shown()}`);
        await pause(100);
      }
    },
    lines: () => tmux('capture-pane', '-p', '-e', '-N', '-t', name).trimEnd().split('\n'),
  };
}

/** Ends everything that was opened. */
export function closeScreens(): void {
  spawnSync('tmux', ['-L', 'pictures', 'kill-server']);
}
