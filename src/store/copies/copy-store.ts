// Copies the rows of a store whose daemon is stopped to an empty place, and compares both.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { clientConfig, type PostgresAddress } from '../engine/postgres/connections/address.ts';
import { takeLock } from '../engine/postgres/opening/lock.ts';
import { explainOpening, titleOf } from '../engine/postgres/opening/opening-faults.ts';
import { connectToOwn, requireServer, SERVER_FACTS } from '../engine/postgres/opening/server.ts';
import { LOCK_FILE, lockDataDirectory } from '../engine/sqlite/file/lock.ts';
import { explainToOperator } from '../engine/sqlite/storage-fault.ts';
import { nameOfStore, type StoreLocation } from '../location.ts';
import { type ComparedTable, compareRows, isSame } from './rows/compare-rows.ts';
import { copyRows } from './rows/copy-rows.ts';
import type { RowsPlace, RowsTarget } from './rows/place.ts';
import { openSnapshot } from './rows/postgres-rows.ts';
import { examineTarget, openTarget } from './rows/postgres-target.ts';
import { openFileToRead } from './rows/sqlite-rows.ts';
import { openFileToWrite, unfinishedOf } from './rows/sqlite-target.ts';
import { type FileSchema, readFileSchema } from './rows/tables.ts';

export type CopyStep = 'copying' | 'comparing' | 'indexes';

export interface CopyRequest {
  readonly from: StoreLocation;
  readonly to: StoreLocation;
  /** The data directory of the daemon that must not run meanwhile; null: the caller holds its lock, and that of files. */
  readonly dataDir: string | null;
  readonly progress: (step: CopyStep, done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Copies all rows, and returns what was compared. An interrupted copy is continued by the same call. Throws `conflict` while a daemon
 * uses either place, when the target is not empty, when the source has another schema, or when rows differ in the end;
 * `unavailable` when a place can't be used.
 */
export async function copyStore(request: CopyRequest): Promise<readonly ComparedTable[]> {
  const { from, to } = request;
  if (nameOfStore(from) === nameOfStore(to))
    throw new ErrandError('bad_request', `The rows are in ${nameOfStore(from)} already.`);
  const held = makeHeld();
  try {
    for (const directory of directoriesOf(request)) held.keep(lockDataDirectory(directory).release);
    const schema = readFileSchema();
    const signal = AbortSignal.any([request.signal, held.lost]);
    const source = await held.open(from, () => openSource(from, schema));
    const target = await held.open(to, () => openToWrite(to, schema));
    return await copyBetween({ ...request, signal, source, target, schema });
  } catch (error) {
    throw held.lost.aborted ? held.lost.reason : error;
  } finally {
    await held.release();
  }
}

/** Throws what `copyStore` would throw before it writes to this database. */
export async function examineDatabase(to: StoreLocation & { readonly kind: 'postgres' }): Promise<void> {
  const held = makeHeld();
  try {
    await held.hold(to, () => examineTarget(to.address));
  } finally {
    await held.release();
  }
}

/** The data directories whose daemon must not run: a daemon has left its lock in the one that it uses. */
function directoriesOf({ from, to, dataDir }: CopyRequest): ReadonlySet<string> {
  if (dataDir === null) return new Set();
  const besideFiles = [from, to].flatMap((place) => (place.kind === 'sqlite' ? [dirname(place.file)] : []));
  const used = besideFiles.filter((directory) => existsSync(join(directory, LOCK_FILE)));
  return new Set([dataDir, ...used].filter((directory) => existsSync(directory)).map((one) => realpathSync(one)));
}

/** What is held until the end: locks and places. */
function makeHeld() {
  const closers: (() => void | Promise<void>)[] = [];
  const loss = new AbortController();
  const keep = (close: () => void | Promise<void>) => void closers.push(close);

  async function lockDatabase(address: PostgresAddress): Promise<void> {
    const connection = await connectToOwn(clientConfig(address), address, (error) =>
      loss.abort(explainOpening(error, address)),
    );
    keep(connection.close);
    requireServer((await connection.say(SERVER_FACTS)).rows[0]!, address);
    await takeLock(connection, { clock: systemClock, name: titleOf(address), mode: 'exclusive', lastPid: null });
  }

  async function hold<Result>(location: StoreLocation, use: () => Promise<Result>): Promise<Result> {
    try {
      if (location.kind === 'postgres') await lockDatabase(location.address);
      return await use();
    } catch (error) {
      throw explained(error, location);
    }
  }

  return {
    keep,
    hold,
    /** Aborted when a lock is lost: another daemon may have it. */
    lost: loss.signal,
    open: async <Place extends RowsPlace>(location: StoreLocation, open: () => Promise<Place>): Promise<Place> => {
      const place = await hold(location, open);
      keep(place.close);
      return place;
    },
    release: async () => {
      for (const close of closers.toReversed()) await close();
    },
  };
}

const explained = (error: unknown, location: StoreLocation) =>
  location.kind === 'sqlite' ? explainToOperator(error, location.file) : explainOpening(error, location.address);

const openSource = async (from: StoreLocation, { tables }: FileSchema): Promise<RowsPlace> =>
  from.kind === 'sqlite' ? openFileToRead(from.file, tables) : openSnapshot(from.address, tables);

const openToWrite = async (to: StoreLocation, schema: FileSchema): Promise<RowsTarget> =>
  to.kind === 'sqlite' ? openFileToWrite(to.file, schema, { lasts: true }) : openTarget(to.address, schema.tables);

interface Copying extends CopyRequest {
  readonly source: RowsPlace;
  readonly target: RowsTarget;
  readonly schema: FileSchema;
}

async function copyBetween({ source, target, schema, progress, signal, to }: Copying) {
  const { tables } = schema;
  // The loop turns, so that what interrupts it is heard.
  const rest = async () => {
    await nextTurn();
    signal.throwIfAborted();
  };
  try {
    await copyRows({ source, target, tables, rest, progress: (done, total) => progress('copying', done, total) });
    const total = await source.about();
    let seen = 0;
    const compared = await compareRows([source, target], tables, async (rows) => {
      progress('comparing', (seen += rows), Math.max(seen, total));
      await rest();
    });
    const other = compared.filter((table) => !isSame(table));
    if (other.length > 0) throw differing(other, to);
    await target.complete((done, all) => {
      progress('indexes', done, all);
      signal.throwIfAborted();
    });
    await target.publish(await source.numbers());
    return compared;
  } catch (error) {
    throw explained(error, to);
  }
}

/** The source was changed after an earlier call had copied a part of it. */
function differing(tables: readonly ComparedTable[], to: StoreLocation): ErrandError {
  const named = tables.map(({ table, source, target }) => `${table} (${source.rows} rows there, ${target.rows} here)`);
  const anew =
    to.kind === 'sqlite'
      ? `Remove ${unfinishedOf(to.file)}, and copy again.`
      : `Drop the database, make it again, and copy again.`;
  return new ErrandError(
    'conflict',
    `What was copied to ${nameOfStore(to)} is not what is there now: ${named.join(', ')}. Was the daemon running between two calls? ${anew}`,
  );
}
