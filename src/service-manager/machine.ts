// The programs of the machine that an installation of the service calls.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { messageOf } from '../domain/errors.ts';

export interface Machine {
  /** Whether this process may install services. */
  isRoot(): boolean;
  /** Whether systemd runs on it. */
  hasSystemd(): boolean;
  /** Runs a program to its end. A missing one ends with 127. Never rejects. */
  run(program: string, ...args: readonly string[]): Promise<Result>;
}

export interface Result {
  readonly code: number;
  readonly output: string;
}

/** Longer than a drain. */
const TIMEOUT_MS = 20 * 60_000;

export const thisMachine: Machine = {
  isRoot: () => process.getuid?.() === 0,
  hasSystemd: () => existsSync('/run/systemd/system'),
  run: (program, ...args) =>
    new Promise((resolve) => {
      execFile(program, args, { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127;
        resolve({ code, output: `${stdout}${stderr}`.trim() || (error === null ? '' : messageOf(error)) });
      });
    }),
};
