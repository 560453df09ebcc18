// `errand blobs`: the bytes of files of a stopped daemon, in its data directory or in a bucket.
import type { Command } from 'commander';
import type { Moved } from '../../../daemon/data/move-blobs.ts';
import { type Column, field } from '../../../terminal/columns.ts';
import { requireConfiguration } from '../../frame/configuration.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { choice, type Given, perform, required } from '../../frame/options.ts';
import { makeProgressBar } from '../../terminal/progress.ts';

const COPY = {
  to: required(
    choice('--to <place>', 'where to: s3, the bucket of the settings; local, the data directory', ['s3', 'local']),
  ),
};

const MOVED: readonly Column<Moved>[] = [
  field('bucket', 9),
  field('blobs', 8),
  field('bytes', 7),
  field('copied', 6),
  field('damaged', 5),
];

/** Adds the noun and its verbs. */
export function addBlobs(program: Command, io: Io): void {
  const blobs = program
    .command('blobs')
    .summary('move files to a bucket')
    .description('Where the bytes of files are: in the data directory, or in a bucket of an S3 service.');
  perform(blobs.command('copy'), io, COPY, copy)
    .description(
      'Copy all files of a stopped daemon to the bucket that blobs.s3 names, or back. Each is verified. In the end, the rows say where they ' +
        'are; the source stays as it is.',
    )
    .addHelpText('after', EXAMPLES);
  blobs
    .command('own')
    .description(
      'Have a restored installation, which removes no object of its bucket, remove those that its rows no longer list. Only where the ' +
        'original is gone: it would lose its files.',
    )
    .action(act(io, own));
}

const EXAMPLES = `
An interrupted copy is continued by the same command.

Examples:
  errand blobs copy --to s3
  errand blobs copy --to local`;

async function copy(context: Context, { to }: Given<typeof COPY>): Promise<void> {
  const { io, out, signal } = context;
  const { config } = await requireConfiguration(context);
  const { moveBlobs } = await import('../../../daemon/data/move-blobs.ts');
  const bar = makeProgressBar(io);
  try {
    const progress = (done: number, total: number) => bar.show('copying files', done, total);
    const moved = await moveBlobs({ config, to, progress, signal });
    bar.end();
    const { damagedKey, ...facts } = moved;
    out.record(moved, MOVED, { ...facts, damaged_key: damagedKey });
    out.hint(
      to === 's3'
        ? 'Next: start the daemon. The files of the data directory are its copies now, up to blobs.cache_mb.'
        : `Next: remove blobs.s3 from the settings, and start the daemon. ${moved.bucket} is as it was.`,
    );
    if (moved.damaged > 0)
      throw new CommandError(
        'checkFailed',
        `${moved.damaged} files have other bytes than they had and were left out, such as ${damagedKey}: restore them from a backup.`,
      );
  } finally {
    bar.end();
  }
}

async function own(context: Context): Promise<void> {
  const { config } = await requireConfiguration(context);
  const { ownBucket } = await import('../../../daemon/data/move-blobs.ts');
  const bucket = await ownBucket(config);
  context.out.text(`Objects of ${bucket} that no row lists are removed from the next start on.\n`);
}
