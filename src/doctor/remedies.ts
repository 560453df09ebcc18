// Words of remedies: each a command of root's that mends this installation, or a comment that says why none does.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Locations, startOf } from '../config/locations.ts';
import { findInstalled } from '../service-manager/installed.ts';

/** There while systemd is process 1. */
const SYSTEMD_RUNS = '/run/systemd/system';
export const SERVICE = 'errand.service';
const SOCKET = 'errand.socket';
const PROGRAM_MS = 15_000;

export const runsSystemd = () => existsSync(SYSTEMD_RUNS);

/** Where no single command mends it: what a person has to do. Harmless when it is pasted. */
export const byHand = (words: string): string => `# by hand: ${words}`;

/** The user of the service; null where the daemon is none, and runs as whoever owns its data. */
export function serviceUser({ isService }: Pick<Locations, 'isService'>): string | null {
  return isService ? (findInstalled()?.user ?? 'errand') : null;
}

/** A command as the user that the data belongs to: root would leave files that the daemon can't open. */
export function asDaemon(locations: Pick<Locations, 'isService'>, command: string): string {
  const user = serviceUser(locations);
  return user === null ? command : `runuser -u ${user} -- ${command}`;
}

/** A command that needs the daemon stopped, with its stop before and its start after. */
export function whileStopped(locations: Pick<Locations, 'isService'>, command: string): string {
  if (!locations.isService) return command;
  // The next connection would start it again.
  const stopped = findInstalled()?.hasSocket === true ? `${SOCKET} errand` : 'errand';
  return `systemctl stop ${stopped}; ${command} && systemctl start ${startedUnits()}`;
}

/** What starts a daemon that is not there, also after systemd has given up on it. */
export async function startRemedy(locations: Pick<Locations, 'isService'>): Promise<string> {
  if (!locations.isService || !runsSystemd()) return startOf(locations);
  const hasGivenUp = (await isOf('is-failed', SERVICE)) || (await isOf('is-failed', SOCKET));
  const units = startedUnits();
  return `${hasGivenUp ? `systemctl reset-failed ${units} && ` : ''}systemctl start ${units}`;
}

/** With the socket where it is enabled. The daemon sees that too, though it can't ask systemd. */
const startedUnits = () =>
  existsSync('/etc/systemd/system/sockets.target.wants/errand.socket') ? `${SOCKET} errand` : 'errand';

/** Whether systemd listens in the daemon's place now. */
export const socketListens = () => isOf('is-active', SOCKET);

async function isOf(question: string, unit: string): Promise<boolean> {
  if (!runsSystemd()) return false;
  try {
    await runProgram('systemctl', '--quiet', question, unit);
    return true;
  } catch {
    return false;
  }
}

/** Runs a program to its end. Throws its error. */
export async function runProgram(program: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, args, { timeout: PROGRAM_MS })).stdout;
}
