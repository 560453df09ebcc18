// `errand selftest`: whether this installation keeps its promises when it is killed, proven on a scratch copy of it.
import { randomInt } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { type Finding, isKept, PROMISES } from '../../../selftest/promises.ts';
import type { SelfTestResult } from '../../../selftest/self-test.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { always, flag, type Given, option, perform } from '../../frame/options.ts';
import { type Column, column, state } from '../../../terminal/columns.ts';

const MAX_MINUTES = 60;
const MAX_SEED = 999_999;

const OPTIONS = {
  minutes: always(option('--minutes <n>', 'how long the daemon is killed, from 0.1 to 60', minutesOf), 2, '2'),
  seed: option('--seed <n>', 'kill at the same moments as the test that had this seed', seedOf),
  keep: flag('--keep', 'keep the scratch directory; it is always kept when a promise was broken'),
};

/** Adds the command. */
export function addSelftest(program: Command, io: Io): void {
  perform(program.command('selftest'), io, OPTIONS, test)
    .summary('whether this installation keeps its promises')
    .description(
      'Start a daemon of this very program on a scratch directory, kill it at random moments while clients work with it, and check what is left. The real data is never touched.',
    )
    .addHelpText('after', ABOUT);
}

const ABOUT = `
It needs up to 1 GB in the directory for temporary files (TMPDIR), a free port of loopback, and about a minute more for the
calm and the checks. The model is a script that it brings along, and the rows are in a SQLite file, whatever the settings name. Exits with 8 if a promise was broken.

Example:
  errand selftest --minutes 5 -o json`;

function minutesOf(text: string): number {
  const minutes = Number(text);
  if (!(minutes >= 0.1 && minutes <= MAX_MINUTES)) throw new InvalidArgumentError('It must be from 0.1 to 60.');
  return minutes;
}

function seedOf(text: string): number {
  const seed = Number(text);
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED)
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_SEED}.`);
  return seed;
}

async function test({ io, out, signal }: Context, options: Given<typeof OPTIONS>): Promise<void> {
  const { runSelfTest } = await import('../../../selftest/self-test.ts');
  const { minutes, seed = randomInt(MAX_SEED + 1), keep = false } = options;
  const stormMs = Math.round(minutes * 60_000);
  const hangup = new AbortController();
  // A terminal that closes must not leave the scratch daemon behind.
  const stopListening = io.onHangup(() => hangup.abort(new CommandError('terminated', '')));
  out.hint(
    `A scratch daemon is killed for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, with seed ${seed}. Ctrl-C ends it, and removes everything.`,
  );
  const result = await runSelfTest({
    executable: io.executable,
    stormMs,
    seed,
    keep,
    environment: io.environment,
    signal: AbortSignal.any([signal, hangup.signal]),
    report: out.hint,
  })
    .catch((error: unknown) => {
      throw hangup.signal.aborted ? hangup.signal.reason : error;
    })
    .finally(stopListening);
  const columns: readonly Column<Finding>[] = [
    state('result', (one) => (isKept(one) ? 'ok' : 'failed'), 9),
    column('promise', ({ promise }) => PROMISES[promise], 8),
    column('checked', ({ checked }) => checked, 7),
    column('problems', ({ problems }) => problems.length, 6),
  ];
  const broken = result.findings.filter((one) => !isKept(one));
  out.list(result.findings, columns, documentOf(result, { seed, stormMs }));
  for (const { promise, checked, problems } of broken) {
    const words = checked === 0 ? ['Nothing was there to be checked.'] : problems.slice(0, 10);
    for (const problem of words) out.hint(`${PROMISES[promise]}: ${problem}`);
  }
  out.hint(summaryOf(result));
  if (broken.length > 0)
    throw new CommandError('checkFailed', `${broken.length} of ${result.findings.length} promises were broken.`);
}

function summaryOf({ kills, pieces, modelCalls, slowestStartMs, kept }: SelfTestResult): string {
  const place = kept === null ? '' : ` The scratch directory is ${kept}.`;
  return `${kills} kills, ${pieces} pieces of work, ${modelCalls} model calls; the slowest start took ${slowestStartMs} ms.${place}`;
}

function documentOf(result: SelfTestResult, { seed, stormMs }: { seed: number; stormMs: number }): object {
  return {
    ok: result.findings.every(isKept),
    seed,
    kills: result.kills,
    pieces: result.pieces,
    model_calls: result.modelCalls,
    slowest_start_ms: result.slowestStartMs,
    storm_ms: stormMs,
    kept: result.kept,
    promises: result.findings.map(({ promise, checked, problems }) => ({ promise, checked, problems })),
  };
}
