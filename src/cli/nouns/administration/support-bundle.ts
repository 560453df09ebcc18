// `errand support-bundle`: one archive for those who help, with what they need and nothing of the conversations.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { nodeIn } from '../../frame/node-of.ts';
import { flag, type Given, option, perform } from '../../frame/options.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';
import type { BundleFile } from '../../support/bundle.ts';
import { saveFile } from '../../support/save-file.ts';

const FILES: readonly Column<BundleFile>[] = [
  field('name', 9),
  column('size', ({ text }) => Buffer.byteLength(text), 7),
  { ...column('about', ({ about, fault }) => (fault === null ? about : `not collected: ${fault}`), 5), wraps: true },
];

const OPTIONS = {
  to: option('--to <file>', 'where to write it; - for standard output (default: errand-support-TIME.tar.gz)', notEmpty),
  offline: flag('--offline', "don't ask the daemon: only what its files and the machine say"),
  log: option('--log <file>', 'the file that the log is written to, if it is not in the journal', notEmpty),
};

/** Adds the command. */
export function addSupportBundle(program: Command, io: Io): void {
  perform(program.command('support-bundle'), io, OPTIONS, write)
    .summary('one archive for those who help')
    .description(
      'Write an archive with what others need to help: versions, status, settings, the database in figures, failed runs, log lines, the unit. It has no conversations and no secrets.',
    )
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
It lists what is in it, and on a terminal asks before it writes.

Examples:
  errand support-bundle --to bundle.tar.gz
  errand support-bundle --offline --log /var/log/errand.log --to - | tar tz`;

async function write(context: Context, { to, offline, log }: Given<typeof OPTIONS>): Promise<void> {
  const { io, out, locations } = context;
  const { collectBundle, packBundle } = await import('../../support/bundle.ts');
  const { makeBlot } = await import('../../../outbound/secrets/blot.ts');
  const { knownSecrets } = await import('../../support/known-secrets.ts');
  const { runProgram } = await import('../../support/host.ts');
  // Without a daemon there is little to collect: it is better to know than to send an empty bundle.
  const node = offline ? null : nodeIn(await context.client().status());
  const options = { offline: offline === true, logFile: log ?? null, run: runProgram, node };
  const files = await collectBundle(context, options, makeBlot(knownSecrets(locations, io.environment)));
  if (to === '-') {
    for (const { name, fault } of files) out.hint(fault === null ? name : `${name}: not collected: ${fault}`);
    await packBundle(files, io.stdout, context.signal);
    return;
  }
  const path = resolve(to ?? `errand-support-${new Date(io.now()).toISOString().replace(/[:.]/g, '-')}.tar.gz`);
  if (out.format !== 'json') out.list(files, FILES, null);
  if (io.terminal.stdin && io.terminal.stderr) await confirm(context, async () => `Write these to ${path}?`);
  await saveFile(path, (stream) => packBundle(files, stream, context.signal));
  if (out.format === 'json') {
    out.json({
      path,
      ...(node !== null && { node }),
      files: files.map(({ name, about, text, fault }) => ({ name, size: Buffer.byteLength(text), about, fault })),
    });
  } else out.hint(`Written: ${path}. Read it before you send it.`);
}
