// The units of systemd, for this program and this user, with a checksum that shows whether they were changed afterwards.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export const SERVICE_UNIT = 'errand.service';
export const SOCKET_UNIT = 'errand.socket';

/** What the units depend on. */
export interface UnitChoice {
  /** Absolute path of the program. */
  readonly executable: string;
  readonly user: string;
  readonly group: string;
  /** `ADDRESS:PORT`; null without a socket of systemd. */
  readonly listen: string | null;
}

export interface Unit {
  readonly name: string;
  readonly text: string;
}

/** Where the program is in the units of the package, next to `src` and `dist`. */
const PACKAGED_PROGRAM = '/usr/bin/errand';
const SEAL = /# Written by "errand service install", checksum ([0-9a-f]{64})\n$/;

/** The units to install. */
export function renderUnits({ executable, user, group, listen }: UnitChoice): readonly Unit[] {
  const service = packaged(SERVICE_UNIT)
    .replaceAll(PACKAGED_PROGRAM, executable)
    .replace(/^User=.*$/m, `User=${user}`)
    .replace(/^Group=.*$/m, `Group=${group}`);
  const units = [{ name: SERVICE_UNIT, text: sealed(service) }];
  if (listen === null) return units;
  const socket = packaged(SOCKET_UNIT).replace(/^ListenStream=.*$/m, `ListenStream=${listen}`);
  return [{ name: SOCKET_UNIT, text: sealed(socket) }, ...units];
}

/** Whether a unit is as an installation has written it. */
export function isUnchanged(text: string): boolean {
  const [line, checksum] = SEAL.exec(text) ?? [];
  return line !== undefined && checksumOf(text.slice(0, -line.length)) === checksum;
}

function packaged(name: string): string {
  return readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8');
}

function sealed(text: string): string {
  return `${text}# Written by "errand service install", checksum ${checksumOf(text)}\n`;
}

function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
