// Recorded files of a workspace by their paths.
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import { listed, MOST_LISTED } from '../engine/listed.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** The recorded files at these paths, by their paths. */
export function* filesAt(
  tx: Reader,
  sessionSeq: number,
  paths: readonly string[],
): Step<ReadonlyMap<string, FileVersion>> {
  const found = new Map<string, FileVersion>();
  for (let at = 0; at < paths.length; at += MOST_LISTED) {
    const { marks, values } = listed(paths.slice(at, at + MOST_LISTED));
    const sql = `SELECT path, size, sha256 FROM workspace_files WHERE session_seq = ? AND path IN (${marks})`;
    for (const file of yield* tx.all<FileVersion>(sql, sessionSeq, ...values)) found.set(file.path, file);
  }
  return found;
}
