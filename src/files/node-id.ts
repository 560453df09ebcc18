// The id of the node that a data directory is: a UUID in a file, made once.
import { hostname } from 'node:os';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, ErrandError } from '../domain/errors.ts';
import { isUuid, newId } from '../domain/ids.ts';
import { writeAtomically } from './blobs/write-atomically.ts';

export interface NodeIdentity {
  readonly id: string;
  /** The file that has it. */
  readonly file: string;
  /** The machine and that very file: a copy of it is at another place. */
  readonly place: string;
}

const fileIn = (dataDir: string) => join(dataDir, 'node-id');

/** Reads it, or makes it. Call it under the lock of the data directory. Throws `conflict` when the file has something else. */
export function openNodeIdentity(dataDir: string): NodeIdentity {
  const file = fileIn(dataDir);
  const id = readNodeId(dataDir) ?? makeId(file);
  const { dev, ino } = statSync(file, { bigint: true });
  return { id, file, place: `${hostname()}:${dev}:${ino}` };
}

/** The id; undefined before a daemon has run there. Throws `conflict` as above. */
export function readNodeId(dataDir: string): string | undefined {
  const file = fileIn(dataDir);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (isUuid(text)) return text.toLowerCase();
  throw new ErrandError('conflict', `${file} must have the id of this node, a UUID. Remove it, and a new one is made.`);
}

function makeId(file: string): string {
  const id = newId();
  writeAtomically(file, `${id}\n`, 0o600);
  return id;
}
