// What settings need of the installed units: a directory that the service may write to, an address that its socket listens on.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Installed, OWN_UNITS } from './installed.ts';
import type { Machine } from './machine.ts';
import { callStep, removeStep, type Step, writeStep } from './steps.ts';
import { SERVICE_UNIT, SOCKET_UNIT } from './units.ts';

/** What the settings ask of the units. */
export interface UnitChanges {
  /** `backup.directory`; null without one. */
  readonly directory?: string | null;
  /** What `ListenStream=` takes. */
  readonly listen?: string;
}

export interface UnitChange {
  readonly steps: readonly Step[];
  /** What puts it into effect; null when nothing is to be done. */
  readonly restart: string | null;
}

const BOTH = `${SOCKET_UNIT} ${SERVICE_UNIT}`;
const HEAD = '# Written by "errand config set", which replaces it.\n';
const BACKUPS = `${SERVICE_UNIT}.d/backup-directory.conf`;
const LISTEN = `${SOCKET_UNIT}.d/listen.conf`;
/** Their paths below the root. */
export const LISTEN_DROP_IN = path.join(OWN_UNITS, LISTEN);

/**
 * What makes the units of the service fit. `machine` is null where no systemd runs, so that only files can be written. Of a socket
 * that is neither enabled nor active, nothing is asked.
 */
export async function planUnits(
  installed: Installed,
  changes: UnitChanges,
  { root, machine }: { readonly root: string; readonly machine: Machine | null },
): Promise<UnitChange> {
  const file = (name: string) => path.join(root, OWN_UNITS, name);
  const directory =
    changes.directory === undefined
      ? []
      : [
          ...(await ownDirectory(installed, changes.directory, machine)),
          ...changed(file(BACKUPS), backupsText(changes.directory)),
        ];
  const listen =
    changes.listen !== undefined && (await usesSocket(installed, machine))
      ? changed(file(LISTEN), listenText(changes.listen))
      : [];
  const steps = [...directory, ...listen];
  if (steps.length === 0) return { steps, restart: null };
  return {
    steps: machine === null ? steps : [...steps, callStep(machine, 'systemctl', 'daemon-reload')],
    // A socket can't begin to listen while the daemon runs: a restart of both is refused.
    restart: listen.length > 0 ? `systemctl stop ${BOTH} && systemctl start ${BOTH}` : 'systemctl restart errand',
  };
}

/** Whether systemd listens in the daemon's place, now or from the next boot on. */
export async function usesSocket({ hasSocket }: Installed, machine: Machine | null): Promise<boolean> {
  if (machine === null || !hasSocket) return false;
  const answers = await Promise.all(
    ['is-enabled', 'is-active'].map((question) => machine.run('systemctl', question, SOCKET_UNIT)),
  );
  return answers.some(({ code }) => code === 0);
}

/** Makes the directory, or gives an empty one to the service. One with contents stays whose it is: they may be another's backups. */
async function ownDirectory(
  { user }: Installed,
  directory: string | null,
  machine: Machine | null,
): Promise<readonly Step[]> {
  if (directory === null || machine === null) return [];
  const { code, output } = await machine.run('id', '-u', user);
  const stats = statSync(directory, { throwIfNoEntry: false });
  if (code !== 0 || stats?.uid === Number(output) || (stats !== undefined && readdirSync(directory).length > 0))
    return [];
  return [callStep(machine, 'install', '-d', '-o', user, '-m', '0700', directory)];
}

function changed(file: string, text: string | null): readonly Step[] {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
  if (before === text) return [];
  return [text === null ? removeStep(file) : writeStep(file, text)];
}

/** With `-`, a directory that is missing doesn't keep the service from starting: the backups fail, and say so. */
function backupsText(directory: string | null): string | null {
  return directory === null ? null : `${HEAD}[Service]\nReadWritePaths="-${escaped(directory)}"\n`;
}

/** The first line forgets the unit's own address. */
const listenText = (listen: string) => `${HEAD}[Socket]\nListenStream=\nListenStream=${listen}\n`;

/** As a quoted word of a unit. */
const escaped = (word: string) => word.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%');
