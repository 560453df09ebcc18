// A reader of the documents: someone who pastes their blocks into a shell, next to a running daemon.
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Of, temporaryDirectory } from '../files/temporary-directory.ts';
import type { DaemonProcess } from './daemon-process.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** A shell in the directory of a checkout, with a running daemon and the variables that the text says to set. */
export interface Reader {
  readonly directory: string;
  readonly daemon: DaemonProcess;
  set(variables: Record<string, string>): void;
  /** The environment of the shell. */
  env(): Readonly<Record<string, string | undefined>>;
  /** Pastes a text into a shell; answers what it printed, and fails when any command of it failed. */
  paste(text: string): Promise<string>;
}

/** Makes a reader whose directory is removed when the test ends. */
export function openReader(daemon: DaemonProcess, of?: Of): Reader {
  const directory = temporaryDirectory({}, of);
  for (const name of ['bin', 'node_modules', 'config']) symlinkSync(join(ROOT, name), join(directory, name));
  symlinkSync(daemon.dataDir, join(directory, 'data'));
  const bin = join(directory, '.bin');
  mkdirSync(bin);
  symlinkSync(join(ROOT, 'bin/errand'), join(bin, 'errand'));
  const own = Object.entries(process.env).filter(([name]) => !/^(ERRAND_|NODE_OPTIONS$|VITEST)/.test(name));
  let variables: Record<string, string> = {
    PATH: `${bin}:${process.env['PATH']}`,
    ERRAND_API_KEY: daemon.apiKey,
    ERRAND_DATA_DIR: daemon.dataDir,
    URL: daemon.url,
  };
  const env = () => ({ ...Object.fromEntries(own), ...variables });
  return {
    directory,
    daemon,
    set: (more) => (variables = { ...variables, ...more }),
    env,
    paste: async (text) => {
      const script = text.replaceAll('http://127.0.0.1:8484', daemon.url);
      const options = { cwd: directory, env: env(), encoding: 'utf8' } as const;
      // Under a shell of level 0 bash takes itself for one over ssh, and would read the machine's own start file.
      const { stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], options);
      return `${stdout}\n${stderr}`;
    },
  };
}

/** The JSON document that a curl line printed, perhaps after its progress or the reply's headers. */
export const jsonIn = (printed: string) =>
  JSON.parse(/^\{[^]*\}$/m.exec(printed)?.[0] ?? '') as Record<string, unknown>;
