// What a turn adds to its session in addition to the run: the user's message and its attachments.
import type { Attachment } from '../../domain/sessions/content.ts';
import type { Contents } from '../../domain/sessions/contents.ts';
import { notFound } from '../../domain/errors.ts';
import { unlistedOf } from './cleanups.ts';
import { keepContents } from './small-blobs.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** An attachment whose bytes are stored as a blob, or are given with it. Its path in the workspace is chosen here. */
export interface NewAttachment extends Omit<Attachment, 'workspacePath'> {
  /** Its bytes are those of an attachment of before. */
  readonly isReused?: true;
}

export interface NewMessage {
  readonly sessionSeq: number;
  readonly runSeq: number;
  /** Its blocks as stored; of a long text in bytes, which take a third of the time. */
  readonly content: string | Buffer;
  readonly preview: string;
}

/** Returns the message's id. */
export function* insertUserMessage(
  tx: Transaction,
  { sessionSeq, runSeq, content, preview }: NewMessage,
): Step<number> {
  const text = typeof content === 'string' ? '?' : 'CAST(CAST(? AS BLOB) AS TEXT)';
  return yield* tx.insert(
    `INSERT INTO messages (session_seq, run_seq, role, content, text_preview, created_at)
     VALUES (?, ?, 'user', ${text}, ?, ?)`,
    sessionSeq,
    runSeq,
    content,
    preview,
    tx.now,
  );
}

export interface MessagePosition {
  readonly userSeq: number;
  readonly sessionSeq: number;
  readonly messageId: number;
}

export function* insertAttachments(
  tx: Transaction,
  { userSeq, sessionSeq, messageId }: MessagePosition,
  {
    attachments,
    contents,
  }: { readonly attachments: readonly NewAttachment[]; readonly contents: Contents | undefined },
): Step<void> {
  const keys = attachments.map(({ sha256 }) => sha256);
  // Without bytes of its own, it rests on a row that may have gone since it was found.
  const reused = attachments.filter(({ isReused }) => isReused).map(({ sha256 }) => sha256);
  if ((yield* unlistedOf(tx, reused)).length > 0) throw notFound('Attachment');
  yield* keepContents(tx, keys, contents);
  for (const attachment of attachments) {
    yield* tx.run(
      `INSERT INTO attachments (id, user_seq, message_id, name, path, workspace_path, mime_type, size, sha256, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      attachment.id,
      userSeq,
      messageId,
      attachment.name,
      attachment.path,
      yield* freeUploadPath(tx, sessionSeq, attachment.name),
      attachment.mimeType,
      attachment.size,
      attachment.sha256,
      tx.now,
    );
  }
}

/** `/uploads/<name>`, or `/uploads/<stem>-2.<ext>` and so on when an earlier attachment of the session has that path. */
function* freeUploadPath(tx: Transaction, sessionSeq: number, name: string): Step<string> {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let copy = 1; ; copy += 1) {
    const path = `/uploads/${copy === 1 ? name : `${stem}-${copy}${extension}`}`;
    const taken = yield* tx.get(
      `SELECT 1 FROM attachments a JOIN messages m ON m.id = a.message_id
       WHERE m.session_seq = ? AND a.workspace_path = ?`,
      sessionSeq,
      path,
    );
    if (taken === undefined) return path;
  }
}
