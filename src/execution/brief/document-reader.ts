// Reads documents on threads of their own, each within a deadline and a limit of memory that cost the thread its life.
import { Worker } from 'node:worker_threads';
import type { DocumentFile } from '../../agent/documents/document-file.ts';
import { type Document, TOO_LARGE } from '../../agent/documents/read-document.ts';
import type { DocumentText } from '../../agent/port/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';

export interface DocumentReaderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs?: number;
  readonly maxCpuMs?: number;
}

export interface DocumentReader {
  /** What a document says, given or found in a folder. Null when nothing can be said of it now: the daemon stops, or the thread failed by itself. */
  read(document: Source): Promise<DocumentText | null>;
  /** Ends the threads. */
  stop(): Promise<void>;
}

/** A document whose bytes are loaded when its turn has come. */
export type LoadedDocument = Omit<Document, 'bytes'> & { load(): Promise<Uint8Array> };

type Source = LoadedDocument | DocumentFile;

/** CPU time of a thread: much more than an honest document takes. */
const MAX_CPU_MS = 30_000;
/** By the clock, on a machine that has much else to do. */
const DEADLINE_MS = 120_000;
const LOOK_MS = 100;
const MEBIBYTE = 1024 * 1024;
const HEAP_MB = 256;
/** What lies outside the heap: bytes that libraries unpack. */
const MAX_UNPACKED_BYTES = 256 * MEBIBYTE;
const MAX_AT_ONCE = 2;

const TOO_SLOW: DocumentText = { fault: 'took too long to be read' };

/** Makes the reader. Two documents are read at a time; others wait, and their deadline begins when their turn comes. */
export function makeDocumentReader(parts: DocumentReaderParts): DocumentReader {
  const { clock, log, deadlineMs = DEADLINE_MS, maxCpuMs = MAX_CPU_MS } = parts;
  const ends = new Set<() => Promise<unknown>>();
  const waiting: (() => void)[] = [];
  let free = MAX_AT_ONCE;
  let stopped = false;

  async function takeTurn(): Promise<void> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function giveTurn(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  async function readOnThread(document: Document | DocumentFile): Promise<DocumentText | null> {
    const worker = startThread(document);
    const { promise, resolve } = Promise.withResolvers<DocumentText | null>();
    const end = (read: DocumentText | null) => {
      resolve(read);
      return worker.terminate();
    };
    const stop = () => end(null);
    ends.add(stop);
    worker.once('message', (read: DocumentText) => void end(read));
    worker.once('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const name = 'name' in document ? document.name : document.path;
      log.warn({ err: error, name }, 'a document could not be read; its thread has ended');
      resolve(isMemory ? TOO_LARGE : null);
    });
    worker.once('exit', () => resolve(null));
    const timer = clock.after(deadlineMs, () => void end(TOO_SLOW));
    const watch = setInterval(() => void look(worker, maxCpuMs, end), LOOK_MS);
    try {
      return await promise;
    } finally {
      timer.cancel();
      clearInterval(watch);
      ends.delete(stop);
      await worker.terminate();
    }
  }

  return {
    read: async (source) => {
      await takeTurn();
      try {
        if (stopped) return null;
        const document = 'load' in source ? await loaded(source) : source;
        return stopped ? null : await readOnThread(document);
      } finally {
        giveTurn();
      }
    },
    stop: async () => {
      stopped = true;
      await Promise.all(Array.from(ends, (end) => end()));
    },
  };
}

async function loaded({ load, name, mimeType }: LoadedDocument): Promise<Document> {
  return { bytes: await load(), name, mimeType };
}

function startThread(document: Document | DocumentFile): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`../../agent/documents/document-thread.${extension}`, import.meta.url), {
    workerData: document,
    // Bytes that nothing else lies beside move to the thread.
    transferList: 'bytes' in document && isAlone(document.bytes) ? [document.bytes.buffer as ArrayBuffer] : [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
}

function isAlone({ byteLength, buffer }: Uint8Array): boolean {
  return byteLength === buffer.byteLength;
}

/** Ends a thread that has taken too much: bytes outside its heap, which the heap's own limit does not count, or CPU time. */
async function look(worker: Worker, maxCpuMs: number, end: (said: DocumentText) => unknown): Promise<void> {
  const [heap, cpu] = await Promise.allSettled([worker.getHeapStatistics(), worker.cpuUsage()]);
  if (heap.status === 'fulfilled' && heap.value.external_memory > MAX_UNPACKED_BYTES) end(TOO_LARGE);
  if (cpu.status === 'fulfilled' && cpu.value.user + cpu.value.system > maxCpuMs * 1_000) end(TOO_SLOW);
}
