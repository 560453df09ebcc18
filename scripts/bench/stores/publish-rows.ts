// Files of a workspace and pages of the board, in a store that is closed.
import { join } from 'node:path';
import { SMALL_BLOB_BYTES } from '../../../src/domain/sessions/contents.ts';
import { openFileBlobs } from '../../../src/files/blobs/file-blobs.ts';
import { copyRows, inStore, nextKey } from './fill-store.ts';

/** A file to be stored; its bytes may come in pieces. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: Uint8Array | Iterable<Uint8Array>;
  readonly size: number;
}

const CATEGORIES = 40;
const SECOND = 1000;

/** Adds files to a session's workspace, as if its last run had left them. Returns the keys of their blobs, in order. */
export async function fillWorkspace(
  dataDir: string,
  sessionId: string,
  files: readonly StoredFile[],
): Promise<readonly string[]> {
  // All are files, for the servers that they are compared with.
  const blobs = await openFileBlobs(join(dataDir, 'blobs'));
  const keys: string[] = [];
  for (const { bytes } of files)
    keys.push(await blobs.keep(bytes instanceof Uint8Array ? [bytes] : bytes, () => undefined));
  const small = new Map<string, Buffer>();
  for (const [i, { size }] of files.entries())
    if (size <= SMALL_BLOB_BYTES) small.set(keys[i]!, await blobs.read(keys[i]!));
  inStore(dataDir, (database) => {
    const session = database.prepare('SELECT seq FROM sessions WHERE id = ?').pluck().get(sessionId) as number;
    const sql = 'INSERT INTO workspace_files (session_seq, path, size, sha256) VALUES (?, ?, ?, ?)';
    const insert = database.prepare(sql);
    for (const [i, { path, size }] of files.entries()) insert.run(session, path, size, keys[i]);
    const keep = database.prepare('INSERT INTO small_blobs (key, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING');
    for (const [key, bytes] of small) keep.run(key, bytes);
  });
  return keys;
}

/** Copies the page with this key, which has one version with one file, until the board has `count` pages. */
export function fillBoard(dataDir: string, key: string, count: number): void {
  inStore(dataDir, (database) => {
    const read = (sql: string, value: string | number) => database.prepare(sql).pluck().get(value) as number;
    const page = read('SELECT id FROM publish_pages WHERE key = ?', key);
    const version = read('SELECT seq FROM publish_versions WHERE page_id = ?', page);
    const page_id = `${nextKey(database, 'publish_pages', 'id')} + n`;
    const version_seq = `${nextKey(database, 'publish_versions', 'seq')} + n`;
    const pages = {
      id: page_id,
      key: "printf('%016d', n)",
      name: "name || ' ' || n",
      search_name: "search_name || ' ' || n",
      category: `'Category ' || n % ${CATEGORIES}`,
      latest_published_at: `latest_published_at - n * ${SECOND}`,
    };
    const versions = {
      seq: version_seq,
      page_id,
      share_code: "printf('%022d', n)",
      published_at: `published_at - n * ${SECOND}`,
    };
    const copies = count - read('SELECT count(*) FROM publish_pages WHERE ?', 1);
    copyRows(database, { table: 'publish_pages', where: `id = ${page}`, rewrites: pages }, copies);
    copyRows(database, { table: 'publish_versions', where: `seq = ${version}`, rewrites: versions }, copies);
    copyRows(
      database,
      { table: 'publish_files', where: `version_seq = ${version}`, rewrites: { version_seq } },
      copies,
    );
  });
}
