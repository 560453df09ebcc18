// Reports to systemd that the daemon is ready, so that a started service accepts requests.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../domain/errors.ts';
import type { Io } from './io.ts';

const TIMEOUT_MS = 10_000;

/**
 * Reports "ready" with a status line if the service manager asked for it (`Type=notify`). Node.js can't write to a Unix
 * datagram socket, so `systemd-notify` does; it ends only when systemd has received the message. If this fails, the
 * daemon continues, with a line on standard error.
 */
export async function notifyServiceManager({ environment, stderr }: Io, status: string): Promise<void> {
  const { NOTIFY_SOCKET: socket, PATH: path } = environment;
  if (!socket) return;
  const env = { NOTIFY_SOCKET: socket, ...(path !== undefined && { PATH: path }) };
  try {
    await promisify(execFile)('systemd-notify', ['--ready', `--status=${status}`], { env, timeout: TIMEOUT_MS });
  } catch (error) {
    stderr.write(`errand: systemd could not be notified that the daemon is ready: ${messageOf(error)}\n`);
  }
}
