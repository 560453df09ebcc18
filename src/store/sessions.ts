// Rows of sessions and the messages of their history.
import type { AssistantBlock, Attachment, Message, UserBlock } from '../domain/content.ts';
import type { Session } from '../domain/session.ts';
import type { Database, Reader } from './database.ts';
import { type SessionRow, toSession } from './rows.ts';

export interface AttachmentRow {
  id: string;
  message_id: number;
  name: string;
  path: string;
  workspace_path: string;
  mime_type: string;
  size: number;
  sha256: string;
}

export function toAttachment(row: AttachmentRow): Attachment {
  return {
    id: row.id,
    name: row.name,
    path: row.path,
    workspacePath: row.workspace_path,
    mimeType: row.mime_type,
    size: row.size,
    sha256: row.sha256,
  };
}

interface MessageRow {
  id: number;
  role: 'user' | 'assistant';
  content: string;
  text_preview: string;
  created_at: number;
}

/** The verbs on sessions. */
export function makeSessions({ reader }: Database) {
  return {
    /** The session of an id, deleted ones included, or undefined. */
    find: async (id: string): Promise<Session | undefined> => {
      const row = reader.get<SessionRow>('SELECT * FROM sessions WHERE id = ?', id);
      return row === undefined ? undefined : toSession(row);
    },

    /** The whole history of a session, oldest first. */
    listMessages: async (sessionSeq: number): Promise<Message[]> => {
      const attachments = attachmentsByMessage(reader, sessionSeq);
      return reader
        .all<MessageRow>(
          'SELECT id, role, content, text_preview, created_at FROM messages WHERE session_seq = ? ORDER BY id',
          sessionSeq,
        )
        .map((row) => toMessage(row, attachments.get(row.id) ?? []));
    },

    /** A user's attachment by its API path, or undefined. */
    findAttachment: async (userSeq: number, apiPath: string): Promise<Attachment | undefined> => {
      const row = reader.get<AttachmentRow>(
        'SELECT * FROM attachments WHERE path = ? AND user_seq = ? LIMIT 1',
        apiPath,
        userSeq,
      );
      return row === undefined ? undefined : toAttachment(row);
    },
  };
}

function attachmentsByMessage(reader: Reader, sessionSeq: number): Map<number, Attachment[]> {
  const rows = reader.all<AttachmentRow>(
    `SELECT a.* FROM attachments a JOIN messages m ON m.id = a.message_id
     WHERE m.session_seq = ? ORDER BY a.seq`,
    sessionSeq,
  );
  const byMessage = new Map<number, Attachment[]>();
  for (const row of rows) {
    const own = byMessage.get(row.message_id) ?? [];
    own.push(toAttachment(row));
    byMessage.set(row.message_id, own);
  }
  return byMessage;
}

function toMessage(row: MessageRow, attachments: readonly Attachment[]): Message {
  const shared = {
    id: row.id,
    textPreview: row.text_preview,
    attachments,
    createdAt: row.created_at,
  };
  return row.role === 'user'
    ? { ...shared, role: 'user', content: JSON.parse(row.content) as UserBlock[] }
    : { ...shared, role: 'assistant', content: JSON.parse(row.content) as AssistantBlock[] };
}
