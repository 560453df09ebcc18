// The manifest of a version: its files, and the tree of them that is kept beside them.
import { TREE_PATH } from '../../domain/publishing/manifest.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { Contents } from '../../domain/sessions/contents.ts';
import { keepContents } from '../sessions/small-blobs.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** The blob with the tree of a version's files. */
export type KeptTree = Pick<FileVersion, 'size' | 'sha256'>;

/** The verbs. Versions are named by their `seq`. */
export function makeManifestFiles({ write, read }: Database) {
  return {
    /** Up to `limit` files of a version, in the order of their paths, after a path ('/' for the first). */
    listFiles: read(
      (tx: Reader, versionSeq: number, afterPath: string, limit: number): Step<FileVersion[]> =>
        tx.all<FileVersion>(
          'SELECT path, size, sha256 FROM publish_files WHERE version_seq = ? AND path > ? ORDER BY path LIMIT ?',
          versionSeq,
          afterPath,
          limit,
        ),
    ),

    /** The file with exactly this path, or undefined (F4). */
    findFile: read(
      (tx: Reader, versionSeq: number, path: string): Step<FileVersion | undefined> =>
        tx.get<FileVersion>(
          'SELECT path, size, sha256 FROM publish_files WHERE version_seq = ? AND path = ?',
          versionSeq,
          path,
        ),
    ),

    /**
     * Keeps a blob with the tree of a version's files. It goes with the manifest: that of a version which was withdrawn meanwhile is
     * removed at once.
     */
    keepTree: write(function* (
      tx: Transaction,
      versionSeq: number,
      { size, sha256 }: KeptTree,
      contents?: Contents,
    ): Step<void> {
      yield* keepContents(tx, [sha256], contents);
      const kept = yield* tx.count(
        `INSERT INTO publish_files (version_seq, path, size, sha256)
         SELECT seq, '${TREE_PATH}', ?, ? FROM publish_versions WHERE seq = ? AND is_open = 1
         ON CONFLICT (version_seq, path) DO UPDATE SET size = excluded.size`,
        size,
        sha256,
        versionSeq,
      );
      if (kept === 0) yield* tx.run('INSERT INTO publish_removals (sha256) VALUES (?) ON CONFLICT DO NOTHING', sha256);
    }),
  };
}
