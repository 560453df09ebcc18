// `errand version`: the version of this command.
import type { Command } from 'commander';
import { VERSION } from '../../version.ts';
import { act } from '../frame/context.ts';
import type { Io } from '../frame/io.ts';

/** Adds the command. */
export function addVersion(program: Command, io: Io): void {
  program
    .command('version')
    .summary('the version of this command')
    .description('Print the version of this command. "errand status" shows that of the daemon.')
    .action(
      act(io, async ({ out }) => {
        if (out.format === 'json') out.json({ version: VERSION });
        else out.text(`${VERSION}\n`);
      }),
    );
}
