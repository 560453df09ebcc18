// What installing and removing the service takes: steps that are shown before they are done, and none that is done already.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { ErrandError } from '../domain/errors.ts';
import { LISTEN_DROP_IN } from './drop-ins.ts';
import { OWN_UNITS, packagedUnit } from './installed.ts';
import type { Machine } from './machine.ts';
import { callStep, removeStep, type Step, writeStep } from './steps.ts';
import { isUnchanged, renderUnits, SERVICE_UNIT, SOCKET_UNIT, type Unit, type UnitChoice } from './units.ts';

export interface Installation extends Omit<UnitChoice, 'group'> {
  /** The root of the files: `/`, or a directory that becomes one. */
  readonly root: string;
  /** Whether units that someone has changed are replaced. The changed ones are kept as `NAME.old`. */
  readonly replaces: boolean;
  /** What the root is that of; null when it is not yet that of a running machine, so that only files can be written. */
  readonly machine: Machine | null;
}

const CONFIGURATION = '/etc/errand';
export const DATA = '/var/lib/errand';
const BOTH = [SOCKET_UNIT, SERVICE_UNIT];

/**
 * The steps that install the service. Throws `conflict` for units that someone has changed, and where a package has installed the
 * service: the new units would hide the package's, also from its upgrades.
 */
export async function planInstallation(given: Installation): Promise<readonly Step[]> {
  const { machine, user, root } = given;
  const packaged = packagedUnit(SERVICE_UNIT, root);
  if (packaged !== null)
    throw new ErrandError(
      'conflict',
      `A package has installed the service: ${packaged}. Start it with: systemctl enable --now errand.socket errand. Change it with: systemctl edit errand`,
    );
  const group = machine === null ? undefined : await groupOf(machine, user);
  const units = renderUnits({ ...given, group: group ?? user });
  const outdated = units.filter(({ name, text }) => textOf(root, name) !== text);
  const dropped = unitsIn(root).filter(({ name }) => units.every((unit) => unit.name !== name));
  refuseChanged([...outdated, ...dropped], given);
  // The unit has the address itself.
  const moved = path.join(root, LISTEN_DROP_IN);
  const superseded = existsSync(moved) ? [{ name: SOCKET_UNIT }] : [];
  const configuration = path.join(root, CONFIGURATION);
  return [
    ...(machine === null || group !== undefined ? [] : [addUser(machine, user)]),
    ...(existsSync(configuration) ? [] : [makeDirectory(configuration)]),
    ...outdated.map((unit) => writeUnit(root, unit)),
    ...dropped.flatMap((unit) => removeUnit(machine, root, unit)),
    ...superseded.map(() => removeStep(moved)),
    ...(machine === null ? [] : await activate(machine, units, [...outdated, ...dropped, ...superseded])),
  ];
}

/** The steps that remove it. Data, configuration and user stay. Throws as `planInstallation`. */
export async function planRemoval(
  given: Pick<Installation, 'root' | 'replaces' | 'machine'>,
): Promise<readonly Step[]> {
  const { root, machine } = given;
  const units = unitsIn(root);
  if (units.length === 0) return [];
  refuseChanged(units, given);
  const hidden = await hiddenBy(units, root, machine);
  const removals = units.flatMap((unit) => removeUnit(machine, root, unit));
  if (machine === null) return removals;
  const returned = hidden.map((name) => callStep(machine, 'systemctl', 'enable', '--now', name));
  return [...removals, callStep(machine, 'systemctl', 'daemon-reload'), ...returned];
}

/** The package's units that these have hidden, as far as they were enabled: they take over. */
async function hiddenBy(units: readonly Unit[], root: string, machine: Machine | null): Promise<readonly string[]> {
  const hidden: string[] = [];
  for (const { name } of units) {
    if (machine === null || packagedUnit(name, root) === null) continue;
    if ((await machine.run('systemctl', 'is-enabled', name)).code === 0) hidden.push(name);
  }
  return hidden;
}

/** The user's group; undefined without such a user. */
async function groupOf(machine: Machine, user: string): Promise<string | undefined> {
  const { code, output } = await machine.run('id', '-gn', user);
  return code === 0 ? output : undefined;
}

/** What makes systemd run these units as they are now. */
async function activate(
  machine: Machine,
  units: readonly Unit[],
  outdated: readonly Pick<Unit, 'name'>[],
): Promise<readonly Step[]> {
  const names = units.map(({ name }) => name);
  const systemctl = (...args: readonly string[]) => callStep(machine, 'systemctl', ...args);
  const holds = async (question: string, name: string) => (await machine.run('systemctl', question, name)).code === 0;
  const all = async (question: string) =>
    (await Promise.all(names.map((name) => holds(question, name)))).every(Boolean);
  const steps: Step[] = [];
  if (outdated.length > 0) steps.push(systemctl('daemon-reload'));
  if (!(await all('is-enabled'))) steps.push(systemctl('enable', ...names));
  const runs = await holds('is-active', SERVICE_UNIT);
  const listens = outdated.every(({ name }) => name !== SOCKET_UNIT) && (await all('is-active'));
  // A socket can't begin to listen while a daemon runs that has not got it.
  if (runs && !listens) steps.push(systemctl('stop', ...names));
  if (runs && listens && outdated.length > 0) steps.push(systemctl('restart', SERVICE_UNIT));
  if (!runs || !listens) steps.push(systemctl('start', ...names));
  return steps;
}

function refuseChanged(units: readonly Unit[], { root, replaces }: Pick<Installation, 'root' | 'replaces'>): void {
  const changed = units
    .map(({ name }) => ({ name, text: textOf(root, name) }))
    .filter(({ text }) => text !== undefined && !isUnchanged(text))
    .map(({ name }) => placeOf(root, name));
  if (replaces || changed.length === 0) return;
  throw new ErrandError(
    'conflict',
    `${changed.join(' and ')} was not written by this command, or changed since. With --yes, it is kept as NAME.old; put your changes into a drop-in (systemctl edit errand).`,
  );
}

const placeOf = (root: string, name: string) => path.join(root, OWN_UNITS, name);

function unitsIn(root: string): readonly Unit[] {
  return BOTH.flatMap((name) => {
    const text = textOf(root, name);
    return text === undefined ? [] : [{ name, text }];
  });
}

function textOf(root: string, name: string): string | undefined {
  const file = placeOf(root, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function writeUnit(root: string, { name, text }: Unit): Step {
  const file = placeOf(root, name);
  return writeStep(file, text, () => keepChanged(file));
}

/** Without a machine, the file alone. */
function removeUnit(machine: Machine | null, root: string, { name }: Unit): readonly Step[] {
  const file = placeOf(root, name);
  const removal = removeStep(file, () => keepChanged(file));
  return machine === null ? [removal] : [callStep(machine, 'systemctl', 'disable', '--now', name), removal];
}

function keepChanged(file: string): void {
  if (existsSync(file) && !isUnchanged(readFileSync(file, 'utf8'))) renameSync(file, `${file}.old`);
}

function makeDirectory(directory: string): Step {
  return {
    line: `mkdir ${directory}`,
    perform: async () => void mkdirSync(directory, { recursive: true, mode: 0o755 }),
  };
}

function addUser(machine: Machine, user: string): Step {
  const shell = ['--shell', '/usr/sbin/nologin'];
  return callStep(
    machine,
    'useradd',
    '--system',
    '--user-group',
    '--home-dir',
    DATA,
    '--no-create-home',
    ...shell,
    user,
  );
}
