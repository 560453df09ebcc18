// Lines of the daemon's log in systemd's journal, as `journalctl` prints them.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { codeOf } from '../../domain/errors.ts';
import type { LogLine } from '../../log/log-lines.ts';
import { CommandError } from '../frame/exit-codes.ts';

export interface JournalWish {
  readonly unit: string;
  readonly follow: boolean;
  /** ISO 8601; null for all that is kept. */
  readonly since: string | null;
  readonly signal: AbortSignal;
}

/** What a reader who follows sees of the lines before. */
const SHOWN_BEFORE = 10;
const KILL_MS = 2_000;

/** Reads them. Throws `usage` where there is no journal, and what `journalctl` says when it fails. */
export async function* journalLines({ unit, follow, since, signal }: JournalWish): AsyncGenerator<LogLine> {
  const args = ['--unit', unit, '--output=cat', '--no-pager', '--quiet', '--all'];
  if (since !== null) args.push(`--since=@${Math.floor(Date.parse(since) / 1_000)}`);
  if (follow) args.push('--follow', ...(since === null ? [`--lines=${SHOWN_BEFORE}`] : ['--no-tail']));
  const child = spawn('journalctl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<unknown>((resolve) => child.once('error', resolve).once('close', resolve));
  const stop = () => void child.kill();
  signal.addEventListener('abort', stop, { once: true });
  let said = '';
  // journalctl itself shows only the last lines of before.
  yield { caughtUp: true };
  child.stderr.on('data', (chunk: Buffer) => (said = (said + String(chunk)).slice(0, 1_000)));
  try {
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }))
      yield { line };
    const end = await ended;
    if (codeOf(end) === 'ENOENT') throw new CommandError('usage', NO_JOURNAL, HOW);
    if (end !== 0 && !signal.aborted)
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
