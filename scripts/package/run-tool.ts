// Runs a program of the build, which must succeed.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface ToolOptions {
  readonly cwd?: string;
  /** In addition to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Its standard output. Throws with its standard error when it fails or doesn't exist. */
export async function runTool(program: string, args: readonly string[], options: ToolOptions = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    ...options,
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC', ...options.env },
    maxBuffer: MOST_OUTPUT_BYTES,
  });
  return stdout;
}
