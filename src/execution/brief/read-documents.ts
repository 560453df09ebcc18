// The texts of a run's attached documents: stored ones, and those that are read now.
import { endsOf } from '../../agent/documents/excerpt.ts';
import { MAX_DOCUMENT_BYTES, TOO_LARGE } from '../../agent/documents/read-document.ts';
import type { CarriedText } from '../../agent/port/protocol.ts';
import type { DocumentText } from '../../agent/port/services.ts';
import { type Clock, within } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Halt } from '../../domain/halt.ts';
import type { Attachment } from '../../domain/sessions/content.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { DocumentTurns, KnownText, Waiting } from './document-turns.ts';

export interface DocumentParts {
  readonly store: Pick<Store, 'documents'>;
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly turns: DocumentTurns;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Documents {
  /**
   * The texts of the documents among attachments, by the sha256 of their content; of each as much as a model is ever shown. Those
   * that are not known yet are read in this order.
   */
  textsOf(attachments: readonly Attachment[], waiting: Waiting): Promise<Readonly<Record<string, CarriedText>>>;
}

/** How long a run waits for the texts of its documents; what is read later, while it goes on, is available to the next turn. */
const MAX_WAIT_MS = 60_000;

/** Makes it. A failure leaves a document without text; the turn continues. */
export function makeDocuments({ store, blobs, turns, clock, log }: DocumentParts): Documents {
  const known = ({ sha256 }: Attachment): KnownText => ({
    find: async () => store.documents.find(sha256),
    keep: async (text) => store.documents.keep(sha256, text),
  });

  async function find(attachment: Attachment): Promise<DocumentText | undefined> {
    return attachment.size > MAX_DOCUMENT_BYTES ? TOO_LARGE : known(attachment).find();
  }

  async function read(attachment: Attachment, waiting: Waiting): Promise<DocumentText | null> {
    const { sha256, name, mimeType } = attachment;
    return turns.read({ load: () => blobs.read(sha256), name, mimeType }, known(attachment), waiting);
  }

  async function tried<T>({ sha256 }: Attachment, work: Promise<T>): Promise<T | undefined> {
    return work.catch((error: unknown) => {
      log.warn({ sha256, error: messageOf(error) }, 'the text of a document could not be read');
      return undefined;
    });
  }

  async function collect(
    documents: readonly Attachment[],
    texts: Record<string, CarriedText>,
    waiting: Waiting,
  ): Promise<void> {
    const take = (sha256: string, text: DocumentText | null | undefined) => {
      if (text != null) texts[sha256] = 'text' in text ? endsOf(text.text) : text;
    };
    await Promise.all(documents.map(async (one) => take(one.sha256, await tried(one, find(one)))));
    // One after another: a run with many of them does not keep the others of its user waiting.
    for (const one of documents) {
      if (waiting.off.isHalted) return;
      if (texts[one.sha256] === undefined) take(one.sha256, await tried(one, read(one, waiting)));
    }
  }

  return {
    textsOf: async (attachments, waiting) => {
      const documents = attachments.filter(({ mimeType }) => !mimeType.startsWith('image/'));
      if (documents.length === 0) return {};
      const texts: Record<string, CarriedText> = {};
      await within(clock, MAX_WAIT_MS, untilOff(collect(documents, texts, waiting), waiting.off), undefined);
      return { ...texts };
    },
  };
}

async function untilOff(work: Promise<void>, off: Halt): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  off.listen(resolve);
  try {
    await Promise.race([work, promise]);
  } finally {
    off.leave(resolve);
  }
}
