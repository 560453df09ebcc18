// Lines of the daemon's log in systemd's journal, as `journalctl` prints them.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { codeOf } from '../../domain/errors.ts';
import type { LogLine } from '../../log/log-lines.ts';
import { CommandError } from '../frame/exit-codes.ts';

export interface JournalQuery {
  readonly unit: string;
  readonly follow: boolean;
  /** ISO 8601; null for all that is kept. */
  readonly since: string | null;
  /** Epoch ms. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Where a reader who follows looks for the last lines that are wanted. */
const LOOKED_AT_LINES = 20_000;
const CURSOR = '-- cursor: ';
const KILL_MS = 2_000;

/** Reads them. Throws `usage` where there is no journal, and what `journalctl` says when it fails. */
export async function* journalLines({ unit, follow, since, now, signal }: JournalQuery): AsyncGenerator<LogLine> {
  const asked = ['--unit', unit, '--output=cat', '--no-pager', '--quiet', '--all'];
  const sinceThen = (at: number) => `--since=@${Math.floor(at / 1_000)}`;
  let from = since === null ? [] : [sinceThen(Date.parse(since))];
  if (follow && since === null) {
    // journalctl itself can show the last lines, but not the last that are wanted. The cursor continues after them.
    const before = [...asked, `--lines=${LOOKED_AT_LINES}`, '--show-cursor'];
    const cursor = yield* untilCursor(printed(before, signal, { failsSilently: true }));
    if (signal.aborted) return;
    from = [cursor === null ? sinceThen(now) : `--after-cursor=${cursor}`];
  }
  yield { caughtUp: true };
  for await (const line of printed([...asked, ...from, ...(follow ? ['--follow', '--no-tail'] : [])], signal))
    yield { line };
}

/** Passes lines on. The last one is the cursor, which is returned; null when there are no lines. */
async function* untilCursor(lines: AsyncIterable<string>): AsyncGenerator<LogLine, string | null> {
  let last: string | null = null;
  for await (const line of lines) {
    if (last !== null) yield { line: last };
    last = line;
  }
  if (last?.startsWith(CURSOR)) return last.slice(CURSOR.length);
  if (last !== null) yield { line: last };
  return null;
}

/** `failsSilently`: asked for a cursor where there are no lines, some versions fail without a word. */
async function* printed(
  args: readonly string[],
  signal: AbortSignal,
  { failsSilently } = { failsSilently: false },
): AsyncGenerator<string> {
  const child = spawn('journalctl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<unknown>((resolve) => child.once('error', resolve).once('close', resolve));
  const stop = () => void child.kill();
  signal.addEventListener('abort', stop, { once: true });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + String(chunk)).slice(0, 1_000)));
  try {
    yield* createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY });
    const end = await ended;
    if (codeOf(end) === 'ENOENT') throw new CommandError('usage', NO_JOURNAL, HOW);
    if (end !== 0 && !signal.aborted && !(failsSilently && said === ''))
      throw new CommandError(
        'failure',
        `journalctl failed: ${said.trim() || String(end)}`,
        ...(/permission/i.test(said) ? [WHO_READS] : []),
      );
  } finally {
    signal.removeEventListener('abort', stop);
    if (child.exitCode === null && child.pid !== undefined) {
      child.kill();
      setTimeout(() => child.kill('SIGKILL'), KILL_MS).unref();
    }
  }
}

const NO_JOURNAL = 'There is no journal of systemd on this machine.';
const HOW = 'The daemon logs to standard error. Name the file that keeps it: --file FILE';

/** What to do about a journal that can't be read. */
export const WHO_READS =
  'Try it with sudo, or as a member of the group systemd-journal; --unit and --file name another place.';
