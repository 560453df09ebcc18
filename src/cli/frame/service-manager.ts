// Tells systemd that the daemon is ready, so that a service that has started is one that answers.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../domain/errors.ts';
import type { Io } from './io.ts';

const TIMEOUT_MS = 10_000;

/**
 * Says "ready" and a line about it where the service manager asked for it (`Type=notify`), else nothing. Node.js can't
 * write to a datagram socket of the file system, so `systemd-notify` does; it ends only when systemd has heard it.
 * A daemon that could not say it serves all the same, and standard error tells.
 */
export async function tellServiceManager({ environment, stderr }: Io, status: string): Promise<void> {
  const { NOTIFY_SOCKET: socket, PATH: path } = environment;
  if (!socket) return;
  const env = { NOTIFY_SOCKET: socket, ...(path !== undefined && { PATH: path }) };
  try {
    await promisify(execFile)('systemd-notify', ['--ready', `--status=${status}`], { env, timeout: TIMEOUT_MS });
  } catch (error) {
    stderr.write(`errand: systemd could not be told that the daemon is ready: ${messageOf(error)}\n`);
  }
}
