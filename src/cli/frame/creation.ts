// Before a command makes a data directory, or writes into one: whose it is, and whether it is the one that is meant.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { startOf } from '../../config/locations.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { confirm } from './standard-input.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';

/**
 * Throws `notPermitted` for root on another user's data directory, in which it would leave files that the daemon can't open. Where
 * the directory is still to be made, says so, and asks first if nothing but the installed service has named it. `verb` is the
 * command's own.
 */
export async function requireOwnDirectory(context: Context, verb: string): Promise<void> {
  const { locations, out, io } = context;
  refuseRoot(context, verb);
  if (['errand.db', 'database-location'].some((name) => existsSync(path.join(locations.dataDir, name)))) return;
  if (locations.isService && !locations.isNamed) await askForService(context, verb);
  // Without a terminal, standard error may be a log.
  if (io.terminal.stderr)
    out.hint(`A new data directory: ${locations.dataDir}; its configuration: ${locations.configDir}`);
}

async function askForService(context: Context, verb: string): Promise<void> {
  const { io, yes, call, locations } = context;
  const what = `Errand is installed as a service here, with its data in ${locations.dataDir}.`;
  if (!yes && !(io.terminal.stdin && io.terminal.stderr))
    throw new CommandError(
      'usage',
      `${what} Nothing was created.`,
      `It makes its data itself: ${startOf(locations)}. Another Errand: ${call} ${verb} --data-dir ./data. This one: --data-dir ${shellWord(locations.dataDir)}`,
    );
  await confirm(context, async () => `${what} Create that now?`);
}

function refuseRoot({ locations, call }: Context, verb: string): void {
  if (process.getuid?.() !== 0) return;
  const owner = ownerOf(locations.dataDir);
  if (owner === 0) return;
  const user = nameOf(owner);
  const asOwner = `runuser -u ${user} -- ${call} ${verb}`;
  throw new CommandError(
    'notPermitted',
    `${locations.dataDir} belongs to the user ${user}: root would leave files there that the daemon can't open.`,
    verb === 'serve' && locations.isService ? `Start it with: ${startOf(locations)}` : `As that user: ${asOwner}`,
  );
}

/** Of the directory; where there is none yet, the next one above decides nothing. */
function ownerOf(directory: string): number {
  return statSync(directory, { throwIfNoEntry: false })?.uid ?? 0;
}

function nameOf(uid: number): string {
  const { status, stdout } = spawnSync('id', ['-nu', String(uid)], { encoding: 'utf8', timeout: 10_000 });
  return status === 0 ? stdout.trim() : `#${uid}`;
}
