// Documents of all users, read in turns: those of one keep nobody else waiting.
import type { DocumentText } from '../../agent/port/services.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Halt } from '../../domain/halt.ts';
import { makeOwnerTurns } from '../../workers/owner-turns.ts';
import type { DocumentReader, DocumentSource } from './document-reader.ts';

/** Who waits for a document. */
export interface Waiting {
  readonly userSeq: number;
  /** Comes with the end of the run, or when it is called off. */
  readonly off: Halt;
}

/** What is known of a document. */
export interface KnownText {
  find(): Promise<DocumentText | undefined>;
  keep(text: DocumentText): Promise<void>;
}

export interface DocumentTurns {
  /**
   * The text that is known of a document, or what is read, and kept, once its turn has come. Null when it can't be read now: the reader
   * can't, its run has ended meanwhile, or too many of its user wait.
   */
  read(document: DocumentSource, known: KnownText, waiting: Waiting): Promise<DocumentText | null>;
}

/** Of one user, in progress and waiting. A run waits for one of its attachments at a time. */
const MAX_OWN = 64;
/** Of one whose document was slow a while ago. */
const MAX_SLOW = 8;

/** Makes it. Two runs of a user that need the same document read it once. */
export function makeDocumentTurns(reader: Pick<DocumentReader, 'read'>, clock: Clock): DocumentTurns {
  const turns = makeOwnerTurns({ clock, maxOwn: MAX_OWN, maxSlow: MAX_SLOW });
  return {
    read: async (document, known, { userSeq, off }) => {
      const owner = String(userSeq);
      const work = async () => {
        if (off.isHalted) return null;
        const found = await known.find();
        if (found !== undefined) return found;
        const text = await reader.read(document, () => turns.noteSlow(owner));
        if (text !== null) await known.keep(text);
        return text;
      };
      return (await known.find()) ?? turns.take(owner, work);
    },
  };
}
