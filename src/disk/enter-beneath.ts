// Opens, makes and removes folders beneath an open one, and never follows a link. At once: for threads that serve no requests.
import { closeSync, constants, mkdirSync, openSync, rmdirSync } from 'node:fs';
import { codeOf } from '../domain/errors.ts';
import { dress, type Owner } from './make-beneath.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Where a name is in an open folder. */
export const placeIn = (folder: number, name: string): string => `/proc/self/fd/${folder}/${name}`;

export const openFolderAt = (place: string): number => openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

/**
 * Opens the folder of some names beneath an open one, with none the same again; missing ones are made for an owner. The caller closes it.
 * Throws the system's error where something else is in the way.
 */
export function enterBeneath(root: number, names: readonly string[], owner: Owner | null): number {
  let folder = openFolderAt(`/proc/self/fd/${root}`.concat('/.'));
  for (const name of names) {
    const parent = folder;
    try {
      folder = makeIn(parent, name, owner);
    } finally {
      closeSync(parent);
    }
  }
  return folder;
}

function makeIn(parent: number, name: string, owner: Owner | null): number {
  const place = placeIn(parent, name);
  try {
    mkdirSync(place, 0o700);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return openFolderAt(place);
  }
  const made = openFolderAt(place);
  dress(made, 0o755, owner);
  return made;
}

/** Removes an empty folder by its names beneath an open one. Throws the system's error. */
export function removeFolderBeneath(root: number, names: readonly string[]): void {
  const parent = enterBeneath(root, names.slice(0, -1), null);
  try {
    rmdirSync(placeIn(parent, names.at(-1)!));
  } finally {
    closeSync(parent);
  }
}
