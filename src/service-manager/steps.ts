// One step of what is done to the machine: shown before it is done.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ErrandError } from '../domain/errors.ts';
import type { Machine } from './machine.ts';

/** A line for people, and what it does. */
export interface Step {
  readonly line: string;
  perform(): Promise<void>;
}

/** Writes a whole file, with the directories above it. `before` is done first. */
export function writeStep(file: string, text: string, before: () => void = () => undefined): Step {
  return {
    line: `write ${file}`,
    perform: async () => {
      before();
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
      writeFileSync(`${file}.new`, text, { mode: 0o644 });
      renameSync(`${file}.new`, file);
    },
  };
}

/** Removes a file. `before` is done first. */
export function removeStep(file: string, before: () => void = () => undefined): Step {
  return {
    line: `remove ${file}`,
    perform: async () => {
      before();
      rmSync(file, { force: true });
    },
  };
}

/** Calls a program of the machine, which must end with 0. */
export function callStep(machine: Machine, program: string, ...args: readonly string[]): Step {
  const line = [program, ...args].join(' ');
  return {
    line,
    perform: async () => {
      const { code, output } = await machine.run(program, ...args);
      if (code !== 0) throw new ErrandError('unavailable', `${line} failed: ${output || `code ${code}`}`);
    },
  };
}
