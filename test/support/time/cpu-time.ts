// CPU time of this thread: what work costs, however busy the machine is with other things.

/** Milliseconds of CPU time that the work took. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
