// Preloaded into a measured server (as plain JavaScript: stripping types would cost memory): the first SIGUSR2 starts
// watching its event loop, the next writes the result.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 2;
const file = process.env['BENCH_LOOP_FILE'];

// Worker threads inherit the preload; the loop that matters to every client is the main thread's.
if (isMainThread && file !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const busy = makeBusyWatch();
  let watching = false;
  process.on('SIGUSR2', () => {
    watching = !watching;
    if (watching) {
      histogram.reset();
      histogram.enable();
      busy.start();
      return;
    }
    histogram.disable();
    const maxBusyMs = busy.stop();
    // The histogram contains whole intervals: what exceeds the requested interval is delay.
    const delayMs = (percentile) => Math.max(0, histogram.percentile(percentile) / 1e6 - RESOLUTION_MS);
    // Whoever waits for it reads it whole.
    writeFileSync(
      `${file}.new`,
      `${JSON.stringify({ p50Ms: delayMs(50), p99Ms: delayMs(99), maxMs: delayMs(100), maxBusyMs })}\n`,
    );
    renameSync(`${file}.new`, file);
  });
}

/** Watches for the most processor time that this thread took between two turns of its loop: unlike a delay, it doesn't grow when others have the processor. */
function makeBusyWatch() {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [timer, last, most] = [undefined, 0, 0];
  return {
    start: () => {
      [last, most] = [cpuMs(), 0];
      timer = setInterval(() => {
        const now = cpuMs();
        most = Math.max(most, now - last);
        last = now;
      }, 1);
    },
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}
