// Starts a thread with 64 MB, and writes what V8 gives to it and to this thread, in megabytes.
import { getHeapStatistics } from 'node:v8';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { heapLimits } from '../../src/workers/heap-limits.ts';

const MB = 1_048_576;
const limitMb = getHeapStatistics().heap_size_limit / MB;

if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url), { resourceLimits: heapLimits(64) });
  thread.once('message', (ofThread: number) => process.stdout.write(JSON.stringify({ own: limitMb, ofThread })));
} else {
  parentPort?.postMessage(limitMb, []);
}
