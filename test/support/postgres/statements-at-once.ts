// Executes statements while the caller waits, without its event loop: on connections of another thread, which it keeps.
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { SUPERUSER } from './cluster.ts';

/** What the other thread is started with. */
export interface Channel {
  /** Of the server's socket. */
  readonly directory: string;
  readonly user: string;
  readonly port: MessageChannel['port1'];
  /** Set when an answer is there. */
  readonly answered: Int32Array;
}

export interface Order {
  readonly database: string;
  readonly sql: string;
}

/** Rows of the last statement, or why they failed. */
export type Answer = { readonly rows: readonly object[] } | { readonly error: unknown };

const TIMEOUT_MS = 60_000;

export type Execute = (database: string, sql: string) => readonly object[];

/** On the server with its socket in a directory, as its administrator. */
export function makeExecute(directory: string): Execute {
  const { port1: own, port2: port } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData: Channel = { directory, user: SUPERUSER, port, answered };
  const worker = new Worker(new URL('./statements-worker.ts', import.meta.url), { workerData, transferList: [port] });
  worker.unref();
  own.unref();
  return (database, sql) => {
    Atomics.store(answered, 0, 0);
    own.postMessage({ database, sql } satisfies Order, []);
    Atomics.wait(answered, 0, 0, TIMEOUT_MS);
    const received: { readonly message: Answer } | undefined = receiveMessageOnPort(own);
    if (received === undefined) throw new Error(`No answer within ${TIMEOUT_MS} ms: ${sql}`);
    if ('error' in received.message) throw received.message.error;
    return received.message.rows;
  };
}
