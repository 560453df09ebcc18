// Shows a text in the user's pager, which has the terminal until it ends.
import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { escapedText } from '../../domain/escaped-text.ts';

export interface PagerOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const USUAL = 'less';

/** Answers once it has ended; with a sentence when it could not be started. */
export async function openPager(text: Iterable<string>, { environment, signal }: PagerOptions): Promise<string | null> {
  const [program = USUAL, ...args] = (environment['PAGER'] ?? '').split(/\s+/).filter((word) => word !== '');
  // No shell reads it. `less` gives no way to run commands, or to write files: whoever may look on may do no more.
  const env = { ...environment, LESSSECURE: '1', LESSOPEN: undefined };
  const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env, signal });
  const { promise: ending, resolve: end } = Promise.withResolvers<string | null>();
  child.once('exit', () => end(null));
  child.once('error', (error) =>
    end(signal.aborted ? null : `The pager ${program} can't be started (${error.message}). Set PAGER to another one.`),
  );
  // Whoever leaves the pager early does not want the rest.
  await pipeline(Readable.from(escaped(text)), child.stdin).catch(() => undefined);
  return ending;
}

function* escaped(text: Iterable<string>): Iterable<string> {
  for (const piece of text) yield escapedText(piece.replaceAll('\r\n', '\n'));
}
