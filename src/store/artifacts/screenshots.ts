// Screenshots of the browser, at most one per tool use (G7).
import type { Contents } from '../../domain/sessions/contents.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds } from '../runs/fence.ts';
import { keepContents } from '../sessions/small-blobs.ts';

export interface Screenshot {
  readonly toolUseId: string;
  /** Key of the blob. */
  readonly sha256: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
}

/** The verbs on screenshots. */
export function makeScreenshots({ write, read }: Database) {
  return {
    /**
     * Stores the screenshot of a tool use; a later one replaces it, and the replaced one's key is returned. Nothing is
     * stored when the attempt has lost the run.
     */
    keep: write(function* (
      tx: Transaction,
      fence: Fence,
      { toolUseId, sha256, mimeType, size }: Screenshot,
      contents?: Contents,
    ): Step<{ readonly held: boolean; readonly replaced: string | null }> {
      if (!(yield* holds(tx, fence))) return { held: false, replaced: null };
      yield* keepContents(tx, [sha256], contents);
      const earlier = yield* tx.get<{ sha256: string }>(
        'SELECT sha256 FROM screenshots WHERE run_seq = ? AND tool_use_id = ?',
        fence.runSeq,
        toolUseId,
      );
      yield* tx.run(
        `INSERT INTO screenshots (session_seq, run_seq, tool_use_id, sha256, mime_type, size, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (run_seq, tool_use_id) DO UPDATE SET sha256 = excluded.sha256, mime_type = excluded.mime_type,
             size = excluded.size, created_at = excluded.created_at`,
        fence.sessionSeq,
        fence.runSeq,
        toolUseId,
        sha256,
        mimeType,
        size,
        tx.now,
      );
      return { held: true, replaced: earlier === undefined || earlier.sha256 === sha256 ? null : earlier.sha256 };
    }),

    /** The newest screenshot of a tool use in a session; tool-use ids are unique only within a run. */
    find: read(
      (tx: Reader, sessionSeq: number, toolUseId: string): Step<Screenshot | undefined> =>
        tx.get<Screenshot>(
          `SELECT tool_use_id, sha256, mime_type, size FROM screenshots
           WHERE session_seq = ? AND tool_use_id = ? ORDER BY run_seq DESC LIMIT 1`,
          sessionSeq,
          toolUseId,
        ),
    ),
  };
}
