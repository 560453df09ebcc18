// Whether a process is alive. One that has ended and that nobody waits for isn't.
import { readFileSync } from 'node:fs';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch (error) {
    // A system without /proc has answered the signal.
    return (error as NodeJS.ErrnoException).syscall !== 'kill' && process.platform !== 'linux';
  }
}
