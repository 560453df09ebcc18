// Sends messages to systemd, one after another, through its own program systemd-notify.
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { ServiceEnvironment } from './environment.ts';

/** Assignments of the protocol, such as `READY: '1'`. Values are put on one line and cut. */
export type Message = Readonly<Record<string, string>>;

export interface Notifier {
  /** Resolves after systemd has handled it, with whether it has. Never rejects. */
  send(message: Message): Promise<boolean>;
  /** The same before the event loop is blocked: returns after it was handled. */
  sendNow(message: Message): void;
  /** Resolves when all that was sent has been handled or given up. A program that ends before that loses it. Never rejects. */
  flush(): Promise<void>;
}

export interface NotifierParts extends Pick<ServiceEnvironment, 'notifySocket' | 'searchPath'> {
  /** Called when a message could not be sent, and not again until one has been. */
  failed(error: unknown): void;
}

const PROGRAM = 'systemd-notify';
const TIMEOUT_MS = 10_000;
const MAX_VALUE_CHARACTERS = 500;

/**
 * Makes a notifier; without a service manager, one that does nothing. Node.js can't write to a Unix datagram socket, so
 * `systemd-notify` does. From systemd 246 on, it ends only when the message has been handled.
 */
export function makeNotifier({ notifySocket, searchPath, failed }: NotifierParts): Notifier {
  if (notifySocket === null) {
    return { send: () => Promise.resolve(true), sendNow: () => undefined, flush: () => Promise.resolve() };
  }
  const env = { NOTIFY_SOCKET: notifySocket, ...(searchPath !== null && { PATH: searchPath }) };
  const options = { env, timeout: TIMEOUT_MS };
  let isFailing = false;
  let last: Promise<unknown> = Promise.resolve();

  function settled(error?: unknown): boolean {
    if (error !== undefined && !isFailing) failed(error);
    isFailing = error !== undefined;
    return !isFailing;
  }

  async function sendOne(message: Message): Promise<boolean> {
    try {
      await promisify(execFile)(PROGRAM, assignments(message), options);
      return settled();
    } catch (error) {
      return settled(error);
    }
  }

  return {
    send: (message) => {
      const sent = last.then(() => sendOne(message));
      last = sent;
      return sent;
    },
    sendNow: (message) => {
      try {
        execFileSync(PROGRAM, assignments(message), { ...options, stdio: 'ignore' });
        settled();
      } catch (error) {
        settled(error);
      }
    },
    flush: async () => {
      await last;
    },
  };
}

function assignments(message: Message): string[] {
  return Object.entries(message).map(([name, value]) => `${name}=${oneLine(value)}`);
}

/** A line break would begin another assignment. */
function oneLine(value: string): string {
  const line = value.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > MAX_VALUE_CHARACTERS ? `${line.slice(0, MAX_VALUE_CHARACTERS - 1)}…` : line;
}
