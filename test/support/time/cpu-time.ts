// CPU time of this thread: what work costs, however busy the machine is with other things.

/** Milliseconds of CPU time that the work took. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Milliseconds of CPU time of the longest turn of this thread's event loop while the work is done. */
export async function longestTurnMsOf(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver, before] = [0, false, process.threadCpuUsage()];
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1_000);
    // After each turn, and without one for its own sake: the loop waits as ever.
    if (!isOver) setImmediate(look).unref();
  };
  setImmediate(look).unref();
  await work();
  isOver = true;
  look();
  return longest;
}
