// Texts longer than an index of PostgreSQL holds, told apart, and paths in order, all the same.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { translate } from '../../../../../src/store/engine/postgres/sql/dialect.ts';
import { postgresDdl } from '../../../../../src/store/engine/postgres/sql/schema.ts';
import type { Reader, Step, Transaction } from '../../../../../src/store/engine/statement.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { canRunPostgres } from '../../../../support/postgres/programs.ts';
import { openRows } from '../../../../support/store/open-store.ts';

test('the key of a table is of starts of its paths', () => {
  const table = `CREATE TABLE files (
  seq  INTEGER NOT NULL,
  path TEXT    NOT NULL,
  PRIMARY KEY (seq, path)
) STRICT, WITHOUT ROWID;`;
  expect(postgresDdl(table)).toBe(`CREATE TABLE files (
  seq  BIGINT NOT NULL,
  path TEXT COLLATE "C"    NOT NULL
);
CREATE UNIQUE INDEX files_by_path ON files (seq, left(path, 600), md5(path));`);
});

test('so is that of a table of tool uses', () => {
  const table = `CREATE TABLE uses (
  run_seq     INTEGER NOT NULL,
  tool_use_id TEXT    NOT NULL,
  UNIQUE (run_seq, tool_use_id),
  CHECK (run_seq > 0)
) STRICT;`;
  expect(postgresDdl(table)).toBe(`CREATE TABLE uses (
  run_seq     BIGINT NOT NULL,
  tool_use_id TEXT COLLATE "C"    NOT NULL
);
CREATE UNIQUE INDEX uses_by_tool_use ON uses (run_seq, md5(tool_use_id));`);
});

test.each([
  ['seq = ? AND path = ?', 'seq = $1 AND (left(path, 600) = left($2, 600) AND path = $2)'],
  ['seq = ? AND path IN (?)', 'seq = $1 AND (left(path, 600) IN (left($2, 600)) AND path IN ($2))'],
  [
    'seq = ? AND path IN (?, ?, ?) AND size > ?',
    'seq = $1 AND (left(path, 600) IN (left($2, 600), left($3, 600), left($4, 600)) AND path IN ($2, $3, $4)) AND size > $5',
  ],
  ['f.path = v.entry_path', '(left(f.path, 600) = left(v.entry_path, 600) AND f.path = v.entry_path)'],
  [
    'path > ? ORDER BY path LIMIT 1',
    '(left(path, 600) >= left($1, 600) AND path > $1) ORDER BY left(path, 600), path LIMIT 1',
  ],
  [
    'path >= ? AND path < ?',
    '(left(path, 600) >= left($1, 600) AND path >= $1) AND (left(path, 600) <= left($2, 600) AND path < $2)',
  ],
  ['run_seq = ? AND tool_use_id = ?', 'run_seq = $1 AND (md5(tool_use_id) = md5($2) AND tool_use_id = $2)'],
  ['entry_path = ? AND workspace_path = ?', 'entry_path = $1 AND workspace_path = $2'],
])('%s', (sqlite, postgres) => {
  expect(translate(`SELECT 1 FROM files WHERE ${sqlite}`)).toBe(`SELECT 1 FROM files WHERE ${postgres}`);
});

/** What no compression makes shorter than an index takes. */
const long = randomBytes(6_000).toString('base64url');
/** Equal up to a place behind the start that is in the index. */
const PATHS = ['a', long, `${long}0`, `${long}1`, `${long.slice(0, -1)}~`, '~'].toSorted();

const ADD = `INSERT INTO workspace_files (session_seq, path, size, sha256) VALUES (?, ?, ?, '')
  ON CONFLICT (session_seq, path) DO UPDATE SET size = excluded.size`;

function* addAll(tx: Transaction, size: number): Step<void> {
  for (const path of PATHS.toReversed()) yield* tx.run(ADD, 1, path, size);
}

/** All in order, read one by one. */
function* readAll(tx: Reader): Step<(string | number)[][]> {
  const rows: (string | number)[][] = [];
  for (let path = ''; ; ) {
    const sql = 'SELECT path, size FROM workspace_files WHERE session_seq = ? AND path > ? ORDER BY path LIMIT 1';
    const next: { path: string; size: number } | undefined = yield* tx.get(sql, 1, path);
    if (next === undefined) return rows;
    path = next.path;
    rows.push([path, next.size]);
  }
}

describe.skipIf(!canRunPostgres())('long texts', () => {
  test('are unique, in order, found and removed', async () => {
    const database = openRows(join(temporaryDirectory(), 'errand.db'), systemClock);
    onTestFinished(() => database.close());
    await database.write(addAll)(1);
    expect(await database.read(readAll)()).toEqual(PATHS.map((path) => [path, 1]));
    await database.write(addAll)(2);
    expect(await database.read(readAll)()).toEqual(PATHS.map((path) => [path, 2]));
    const remove = database.write((tx: Transaction, path: string) =>
      tx.count('DELETE FROM workspace_files WHERE session_seq = ? AND path = ?', 1, path),
    );
    expect(await remove(`${long}0`)).toBe(1);
    expect(await database.read(readAll)()).toHaveLength(PATHS.length - 1);
    const wanted = ['a', `${long}1`, `${long}0`];
    const find = database.read((tx: Reader) =>
      tx.all<{ path: string }>(
        'SELECT path FROM workspace_files WHERE session_seq = ? AND path IN (?, ?, ?)',
        1,
        ...wanted,
      ),
    );
    expect(new Set((await find()).map(({ path }) => path))).toEqual(new Set(['a', `${long}1`]));
  });

  test('of tool uses are unique, and found', async () => {
    const database = openRows(join(temporaryDirectory(), 'errand.db'), systemClock);
    onTestFinished(() => database.close());
    const put = database.write((tx: Transaction, id: string, size: number) =>
      tx.run(
        `INSERT INTO screenshots (run_seq, tool_use_id, sha256, mime_type, size, created_at) VALUES (1, ?, '', '', ?, 0)
           ON CONFLICT (run_seq, tool_use_id) DO UPDATE SET size = excluded.size`,
        id,
        size,
      ),
    );
    for (const [size, id] of [long, `${long}0`, long].entries()) await put(id, size);
    const find = database.read((tx: Reader, id: string) =>
      tx.all('SELECT size FROM screenshots WHERE run_seq = 1 AND tool_use_id = ?', id),
    );
    expect([await find(long), await find(`${long}0`), await find('')]).toEqual([[{ size: 2 }], [{ size: 1 }], []]);
  });
});
