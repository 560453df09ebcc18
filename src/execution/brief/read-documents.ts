// The texts of a run's attached documents: stored ones, and those that are read now.
import { endsOf } from '../../agent/documents/excerpt.ts';
import { MAX_DOCUMENT_BYTES, TOO_LARGE } from '../../agent/documents/read-document.ts';
import type { CarriedText } from '../../agent/port/protocol.ts';
import type { DocumentText } from '../../agent/port/services.ts';
import { type Clock, within } from '../../domain/clock.ts';
import type { Attachment } from '../../domain/sessions/content.ts';
import { messageOf } from '../../domain/errors.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { DocumentReader } from './document-reader.ts';

export interface DocumentParts {
  readonly store: Pick<Store, 'documents'>;
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly reader: Pick<DocumentReader, 'read'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Documents {
  /** The texts of the documents among attachments, by the sha256 of their content; of each as much as a model is ever shown. */
  textsOf(attachments: readonly Attachment[]): Promise<Readonly<Record<string, CarriedText>>>;
}

/** How long a run waits for the texts of its documents; what is read later is available to the next turn. */
const MAX_WAIT_MS = 60_000;

/** Makes it. A failure leaves a document without text; the turn continues. */
export function makeDocuments({ store, blobs, reader, clock, log }: DocumentParts): Documents {
  const inProgress = new Map<string, Promise<DocumentText | null>>();

  async function read(attachment: Attachment): Promise<DocumentText | null> {
    const { sha256, name, mimeType, size } = attachment;
    const known = await store.documents.find(sha256);
    if (known !== undefined) return known;
    if (size > MAX_DOCUMENT_BYTES) return TOO_LARGE;
    const text = await reader.read({ load: () => blobs.read(sha256), name, mimeType });
    if (text !== null) await store.documents.keep(sha256, text);
    return text;
  }

  function readOnce(attachment: Attachment): Promise<DocumentText | null> {
    const { sha256 } = attachment;
    const reading = inProgress.get(sha256);
    if (reading !== undefined) return reading;
    const fresh = read(attachment)
      .catch((error: unknown) => {
        log.warn({ sha256, error: messageOf(error) }, 'the text of a document could not be read');
        return null;
      })
      .finally(() => inProgress.delete(sha256));
    inProgress.set(sha256, fresh);
    return fresh;
  }

  return {
    textsOf: async (attachments) => {
      const documents = attachments.filter(({ mimeType }) => !mimeType.startsWith('image/'));
      if (documents.length === 0) return {};
      const texts: Record<string, CarriedText> = {};
      const all = Promise.all(
        documents.map(async (attachment) => {
          const text = await readOnce(attachment);
          if (text !== null) texts[attachment.sha256] = 'text' in text ? endsOf(text.text) : text;
        }),
      );
      await within(clock, MAX_WAIT_MS, all, undefined);
      return { ...texts };
    },
  };
}
