// The text of attached documents, stored once per content: reading one is slow, and its text never changes.
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** The text of a document, or why it has none, as a phrase that follows its name. */
export type StoredText = { readonly text: string } | { readonly fault: string };

/** The verbs on texts of documents. */
export function makeDocuments({ write, read }: Database) {
  return {
    /** What is known of a document by the hash of its content; undefined when it was never read. */
    find: read(function* (tx: Reader, sha256: string): Step<StoredText | undefined> {
      const row = yield* tx.get<{ text: string | null; fault: string | null }>(
        'SELECT text, fault FROM document_texts WHERE sha256 = ?',
        sha256,
      );
      if (row === undefined) return undefined;
      return row.text === null ? { fault: row.fault ?? '' } : { text: row.text };
    }),

    /** Stores what was read. The first reading of a content is kept. */
    keep: write(function* (tx: Transaction, sha256: string, read: StoredText): Step<void> {
      const [text, fault] = 'text' in read ? [read.text, null] : [null, read.fault];
      yield* tx.run(
        'INSERT INTO document_texts (sha256, text, fault, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (sha256) DO NOTHING',
        sha256,
        text,
        fault,
        tx.now,
      );
    }),
  };
}
