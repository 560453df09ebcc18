// The databases of the tests of one run, each noted in a file of the server's directory, so that every process of a test finds it.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive } from '../is-alive.ts';
import { ROLE } from './cluster.ts';
import { EMPTY, HAS_FIRST_SCHEMA } from './emptying.ts';
import type { Execute } from './statements-at-once.ts';

/** The directory of the notes, in that of the server. */
export const NOTES = 'databases';

interface Note {
  readonly database: string;
  readonly template: string;
  /** Of the SQLite file that it stands for. */
  readonly directory: string;
  /** The process that took it. */
  readonly pid: number;
}

interface Wanted {
  /** Of the server. */
  readonly directory: string;
  readonly path: string;
  readonly template: string;
  readonly execute: Execute;
}

/** Names the database for a path: the one that it has, or an emptied or a new one. */
export function takeDatabase({ directory, path, template, execute }: Wanted): string {
  const notes = join(directory, NOTES);
  const note = join(notes, createHash('sha256').update(path).digest('hex'));
  if (existsSync(note)) return read(note).database;
  const database = reuse(notes, template, execute) ?? create(template, execute);
  const taken: Note = { database, template, directory: dirname(path), pid: process.pid };
  const written = join(directory, database);
  writeFileSync(written, JSON.stringify(taken));
  renameSync(written, note);
  return database;
}

const read = (note: string) => JSON.parse(readFileSync(note, 'utf8')) as Note;

function create(template: string, execute: Execute): string {
  const database = `t_${randomUUID().replaceAll('-', '')}`;
  execute('postgres', `CREATE DATABASE ${database} TEMPLATE ${template} OWNER ${ROLE} STRATEGY FILE_COPY`);
  return database;
}

/** Empties one whose test is over, and drops those that can't be used again. Null when there is none. */
function reuse(notes: string, template: string, execute: Execute): string | null {
  for (const name of readdirSync(notes)) {
    const left = claim(join(notes, name), join(notes, '..', `${name}.${process.pid}`));
    if (left === null) continue;
    if (left.template === template && hasFirstSchema(execute(left.database, HAS_FIRST_SCHEMA))) {
      execute(left.database, EMPTY);
      return left.database;
    }
    execute('postgres', `DROP DATABASE IF EXISTS ${left.database} WITH (FORCE)`);
  }
  return null;
}

/** Takes the note of a database whose test is over. Null when it isn't, or when another process takes it. */
function claim(note: string, own: string): Note | null {
  try {
    const { directory, pid } = read(note);
    if (existsSync(directory) || (pid !== process.pid && isAlive(pid))) return null;
    renameSync(note, own);
    const left = read(own);
    rmSync(own);
    return left;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const hasFirstSchema = (rows: readonly object[]) => (rows[0] as { readonly is_so: boolean }).is_so;
