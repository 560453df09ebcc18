// Reads documents in processes of their own, each with a deadline and a memory limit; exceeding either ends the process.
import type { DocumentFile } from '../../agent/documents/document-file.ts';
import type { DocumentTask } from '../../agent/documents/document-worker.ts';
import { type Document, TOO_LARGE } from '../../agent/documents/read-document.ts';
import type { DocumentText } from '../../agent/port/services.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { inProcess, type ProcessTask } from '../../workers/in-process.ts';
import { makeOneShotHost } from '../../workers/one-shot.ts';
import type { TaskEnd } from '../../workers/task-end.ts';
import { workerFile } from '../../workers/worker-file.ts';

export interface DocumentReaderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs?: number;
  readonly maxCpuMs?: number;
  /** What takes more processor time is slow. */
  readonly slowCpuMs?: number;
}

export interface DocumentReader {
  /**
   * The text of a document, passed in or in a folder. Null when it can't be read now: the daemon is stopping, the machine
   * is too busy, or the process failed for a reason of its own. `slow` is called when it took much more than an honest document does.
   */
  read(document: DocumentSource, slow?: () => void): Promise<DocumentText | null>;
  /** Ends the processes. */
  stop(): Promise<void>;
}

/** A document whose bytes are loaded when its turn comes. */
export type LoadedDocument = Omit<Document, 'bytes'> & { load(): Promise<Uint8Array> };

export type DocumentSource = LoadedDocument | DocumentFile;

/** CPU time of a process. */
const MAX_CPU_MS = 30_000;
const SLOW_CPU_MS = 10_000;
/** By the clock, on a machine that has much else to do. */
const DEADLINE_MS = 120_000;

/**
 * Makes the reader. It reads two documents at a time; others wait, and their deadline starts when their turn comes. Whose turn it is,
 * `document-turns.ts` says.
 */
export function makeDocumentReader(parts: DocumentReaderParts): DocumentReader {
  const { clock, log, deadlineMs = DEADLINE_MS, maxCpuMs = MAX_CPU_MS, slowCpuMs = SLOW_CPU_MS } = parts;
  const processes = makeOneShotHost<ProcessTask<DocumentTask>, DocumentText>({
    clock,
    start: inProcess({
      file: workerFile('../../agent/documents/document-worker.ts', import.meta.url),
      heapMb: 256,
      // With what libraries unpack.
      memoryMb: 640,
      maxCpuMs,
    }),
    maxAtOnce: 2,
  });
  return {
    read: async (source, slow) => {
      const end = await processes.run(async () => prepare(source), { deadlineMs });
      if (isSlow(end, slowCpuMs)) slow?.();
      if (end.kind === 'done') return end.value;
      if (end.kind !== 'stopped') {
        const name = 'name' in source ? source.name : source.path;
        log.warn(
          { end: end.kind, name, ...('error' in end && { err: end.error }) },
          'a document could not be read; its process has ended',
        );
      }
      if (end.kind === 'out_of_memory') return TOO_LARGE;
      return end.kind === 'out_of_time' ? { fault: 'took too long to be read' } : null;
    },
    stop: processes.stop,
  };
}

function isSlow(end: TaskEnd<DocumentText>, slowCpuMs: number): boolean {
  if (end.kind === 'done') return (end.cpuMs ?? 0) > slowCpuMs;
  return end.kind === 'timeout' || end.kind === 'out_of_time' || end.kind === 'out_of_memory';
}

async function prepare(source: DocumentSource): Promise<ProcessTask<DocumentTask>> {
  if (!('load' in source)) return { task: source, bytes: new Uint8Array() };
  const { load, name, mimeType } = source;
  return { task: { name, mimeType }, bytes: await load() };
}
