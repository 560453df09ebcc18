// Reads documents on separate threads, each with a deadline and a memory limit; exceeding either ends the thread.
import type { DocumentFile } from '../../agent/documents/document-file.ts';
import { type Document, TOO_LARGE } from '../../agent/documents/read-document.ts';
import type { DocumentText } from '../../agent/port/services.ts';
import { MB } from '../../domain/byte-units.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeOneShotHost, type Prepared } from '../../threads/one-shot.ts';
import { threadFile } from '../../threads/thread-file.ts';

export interface DocumentReaderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs?: number;
  readonly maxCpuMs?: number;
}

export interface DocumentReader {
  /**
   * The text of a document, passed in or in a folder. Null when it can't be read now: the daemon is stopping, or the thread
   * failed for a reason of its own.
   */
  read(document: Source): Promise<DocumentText | null>;
  /** Ends the threads. */
  stop(): Promise<void>;
}

/** A document whose bytes are loaded when its turn comes. */
export type LoadedDocument = Omit<Document, 'bytes'> & { load(): Promise<Uint8Array> };

type Source = LoadedDocument | DocumentFile;

/** CPU time of a thread: much more than an honest document takes. */
const MAX_CPU_MS = 30_000;
/** By the clock, on a machine that has much else to do. */
const DEADLINE_MS = 120_000;

/** Makes the reader. It reads two documents at a time; others wait, and their deadline starts when their turn comes. */
export function makeDocumentReader(parts: DocumentReaderParts): DocumentReader {
  const { clock, log, deadlineMs = DEADLINE_MS, maxCpuMs = MAX_CPU_MS } = parts;
  const threads = makeOneShotHost<Document | DocumentFile, DocumentText>({
    clock,
    file: threadFile('../../agent/documents/document-worker.ts', import.meta.url),
    memoryMb: 256,
    // Memory for what libraries unpack.
    maxExternalBytes: 256 * MB,
    maxCpuMs,
    env: {},
    maxAtOnce: 2,
  });
  return {
    read: async (source) => {
      const end = await threads.run(async () => prepare(source), { deadlineMs });
      if (end.kind === 'done') return end.value;
      if ('error' in end) {
        const name = 'name' in source ? source.name : source.path;
        log.warn({ err: end.error, name }, 'a document could not be read; its thread has ended');
      }
      if (end.kind === 'out_of_memory') return TOO_LARGE;
      return end.kind === 'timeout' ? { fault: 'took too long to be read' } : null;
    },
    stop: threads.stop,
  };
}

async function prepare(source: Source): Promise<Prepared<Document | DocumentFile>> {
  if (!('load' in source)) return { task: source };
  const { load, name, mimeType } = source;
  const bytes = await load();
  // A buffer that contains nothing else is transferred to the thread.
  const isAlone = bytes.byteLength === bytes.buffer.byteLength;
  return { task: { bytes, name, mimeType }, transfer: isAlone ? [bytes.buffer as ArrayBuffer] : [] };
}
