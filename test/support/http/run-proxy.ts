// A proxy in a process of its own, until the test ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { waitFor } from '../time/wait-for.ts';

/** Starts it, and waits until it listens on the port. Throws with its words when it ends before. */
export async function runProxy(program: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-10_000)));
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  await waitFor(async () => child.exitCode !== null || opens(port));
  if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
}

async function opens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
