// Preloaded into a daemon: writes how much processor time the longest turn of its main thread's loop took, once a second and
// from a signal on. Unlike a delay, it doesn't grow when other processes have the processor.
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['LONGEST_TURN_FILE'];

if (isMainThread && file !== undefined) {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [last, longestMs, peakRssMb, starts] = [cpuMs(), 0, 0, 0];
  const write = () => writeFileSync(file, JSON.stringify({ longestMs, peakRssMb, starts }));
  process.on('SIGUSR2', () => {
    [last, longestMs, peakRssMb, starts] = [cpuMs(), 0, 0, starts + 1];
    write();
  });
  let ticks = 0;
  setInterval(() => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - last);
    ticks += 1;
    if (ticks % 100 === 0) {
      peakRssMb = Math.max(peakRssMb, process.memoryUsage.rss() / 1_048_576);
      write();
    }
    // What writing took is not the daemon's.
    last = cpuMs();
  }, 1);
}
