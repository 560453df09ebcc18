// Runs a program to its end within a time limit, and no longer than this one.
import { spawn } from 'node:child_process';
import process from 'node:process';

export interface ProgramRun {
  /** Null when a signal ended it, such as by the time limit. */
  readonly code: number | null;
  /** The end of standard output and error. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly limitMs: number;
  /** Its standard input; without it, that is empty. */
  readonly input?: string | undefined;
}

const MOST_CHARACTERS = 200_000;
/** How long after SIGTERM, which a container takes as "shut down". */
const GRACE_MS = 20_000;

/** Never throws: a missing program ends with code 127. Ctrl-C ends it too, and leaves the rest to the caller. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, limitMs, input }: RunOptions,
): Promise<ProgramRun> {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  // A program may end without having read it.
  child.stdin.on('error', () => undefined).end(input);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-MOST_CHARACTERS);
    });
  }
  let killing: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill('SIGTERM');
    killing ??= setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  };
  const limit = setTimeout(stop, limitMs);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const code = await new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(127));
      child.once('close', resolve);
    });
    return { code, output };
  } finally {
    clearTimeout(limit);
    clearTimeout(killing);
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
