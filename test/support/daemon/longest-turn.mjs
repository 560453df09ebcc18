// Preloaded into a daemon: writes how much processor time the longest turn of its main thread's loop took, at the end of each interval
// of a hundred ticks, and from a signal on. Unlike a delay, it doesn't grow when other processes have the processor.
import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['LONGEST_TURN_FILE'];
const TICKS_PER_INTERVAL = 100;

if (isMainThread && file !== undefined) {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [last, longestMs, peakRssMb, starts, intervals, ticks] = [cpuMs(), 0, 0, 0, 0, 0];
  const write = () => {
    writeFileSync(`${file}.new`, JSON.stringify({ longestMs, peakRssMb, starts, intervals }));
    renameSync(`${file}.new`, file);
  };
  write();
  process.on('SIGUSR2', () => {
    [last, longestMs, peakRssMb, starts] = [cpuMs(), 0, 0, starts + 1];
    write();
  });
  setInterval(() => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - last);
    ticks += 1;
    if (ticks % TICKS_PER_INTERVAL === 0) {
      peakRssMb = Math.max(peakRssMb, process.memoryUsage.rss() / 1_048_576);
      intervals += 1;
      write();
    }
    // What writing took is not the daemon's.
    last = cpuMs();
  }, 1);
}
