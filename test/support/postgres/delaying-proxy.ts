// A network in front of a PostgreSQL server, in a process of its own: slow, and sometimes down.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('delaying-proxy-main.ts', import.meta.url));

export interface DelayingProxy {
  /** Of the loopback interface. */
  readonly port: number;
  /** Ends all connections; new ones are taken. */
  cut(): void;
  /** Passes nothing on, and ends nothing, until it is to `go` on. */
  stall(): void;
  go(): void;
  close(): Promise<void>;
}

/** For the server with its socket in a directory. `delayMs`: each way. It ends with this process. */
export async function startDelayingProxy(directory: string, delayMs: number): Promise<DelayingProxy> {
  const child = spawn(process.execPath, [MAIN, directory, String(delayMs)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    port: Number(port),
    cut: () => void child.kill('SIGUSR2'),
    stall: () => void child.kill('SIGSTOP'),
    go: () => void child.kill('SIGCONT'),
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
