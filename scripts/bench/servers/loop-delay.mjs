// Preloaded into a measured server (as plain JavaScript: stripping types would cost memory): the first SIGUSR2 starts
// watching its event loop, the next writes the result.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 2;
const file = process.env['BENCH_LOOP_FILE'];

// Worker threads inherit the preload; the loop that matters to every client is the main thread's.
if (isMainThread && file !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let watching = false;
  process.on('SIGUSR2', () => {
    watching = !watching;
    if (watching) {
      histogram.reset();
      histogram.enable();
      return;
    }
    histogram.disable();
    // The histogram contains whole intervals: what exceeds the requested interval is delay.
    const delayMs = (percentile) => Math.max(0, histogram.percentile(percentile) / 1e6 - RESOLUTION_MS);
    writeFileSync(file, `${JSON.stringify({ p50Ms: delayMs(50), p99Ms: delayMs(99), maxMs: delayMs(100) })}\n`);
  });
}
