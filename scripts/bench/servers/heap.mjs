// Preloaded into a measured program that has --expose-gc: SIGUSR2 collects garbage and writes what is left on the heap.
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['BENCH_HEAP_FILE'];

if (isMainThread && file !== undefined) {
  process.on('SIGUSR2', () => {
    globalThis.gc();
    writeFileSync(file, `${JSON.stringify({ heapMb: process.memoryUsage().heapUsed / 1024 / 1024 })}\n`);
  });
}
