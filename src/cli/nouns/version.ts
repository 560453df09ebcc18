// `errand version`: the version of this command.
import type { Command } from 'commander';
import { VERSION } from '../../version.ts';
import type { Io } from '../frame/io.ts';
import { type Format, makeOutput } from '../frame/output.ts';

/** Adds the command. */
export function addVersion(program: Command, io: Io): void {
  program
    .command('version')
    .summary('the version of this command')
    .description('Print the version of this command. "errand status" shows that of the daemon.')
    .action((_, command: Command) => {
      const { output: format } = command.optsWithGlobals<{ readonly output?: Format }>();
      const out = makeOutput(io, { format, wide: false });
      if (format === 'json') out.json({ version: VERSION });
      else out.text(`${VERSION}\n`);
    });
}
