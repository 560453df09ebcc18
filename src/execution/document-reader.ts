// Reads documents on threads of their own, each within a deadline and a limit of memory that cost the thread its life.
import { Worker } from 'node:worker_threads';
import type { Document } from '../agent/documents/read-document.ts';
import type { DocumentText } from '../agent/protocol.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log.ts';

export interface DocumentReaderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs?: number;
}

export interface DocumentReader {
  /** What a document says. Null when nothing can be said of it now: the daemon stops, or the thread failed by itself. */
  read(document: Document): Promise<DocumentText | null>;
  /** Ends the threads. */
  stop(): Promise<void>;
}

const DEADLINE_MS = 30_000;
const LOOK_MS = 100;
const MEBIBYTE = 1024 * 1024;
const HEAP_MB = 256;
/** What lies outside the heap: bytes that libraries unpack. */
const MAX_UNPACKED_BYTES = 256 * MEBIBYTE;
const MAX_AT_ONCE = 2;

const TOO_SLOW: DocumentText = { fault: 'took too long to be read' };
const TOO_LARGE: DocumentText = { fault: 'is too large to be read' };

/** Makes the reader. Two documents are read at a time; others wait, and their deadline begins when their turn comes. */
export function makeDocumentReader({ clock, log, deadlineMs = DEADLINE_MS }: DocumentReaderParts): DocumentReader {
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

  async function readOnThread(document: Document): Promise<DocumentText | null> {
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
      log.warn({ err: error, name: document.name }, 'a document could not be read; its thread has ended');
      resolve(isMemory ? TOO_LARGE : null);
    });
    worker.once('exit', () => resolve(null));
    const timer = clock.after(deadlineMs, () => void end(TOO_SLOW));
    const watch = setInterval(() => {
      void look(worker).then((taken) => {
        if (taken > MAX_UNPACKED_BYTES) void end(TOO_LARGE);
      });
    }, LOOK_MS);
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
    read: async (document) => {
      await takeTurn();
      try {
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

function startThread(document: Document): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`../agent/document-thread.${extension}`, import.meta.url), {
    workerData: document,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
}

/** Bytes that a thread holds outside its heap: the heap's own limit does not count them. */
async function look(worker: Worker): Promise<number> {
  try {
    return (await worker.getHeapStatistics()).external_memory;
  } catch {
    return 0;
  }
}
