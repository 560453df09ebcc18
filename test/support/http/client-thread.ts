// A client in a thread of its own.
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** `body`: texts, each with how often it is repeated. `staysOpen`: some is read of a reply that may not end by itself. */
export interface Ask {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly (readonly [text: string, times: number])[] | undefined;
  readonly staysOpen: boolean;
}

/** `text`: where the reply begins. */
export interface ThreadReply {
  readonly status: number;
  readonly text: string;
}

interface Mail {
  readonly id: number;
  readonly reply?: ThreadReply;
}

/** Starts it. What it answers sends the request, which has been made by then. */
export function clientThread() {
  const worker = new Worker(new URL('client-thread.mjs', import.meta.url));
  onTestFinished(async () => void (await worker.terminate()));
  const waiting = new Map<number, (mail: Mail) => void>();
  worker.on('message', (mail: Mail) => waiting.get(mail.id)!(mail));
  const said = async (mail: Mail & { readonly ask?: Ask }) =>
    new Promise<Mail>((resolve) => {
      waiting.set(mail.id, resolve);
      worker.postMessage(mail, []);
    });
  let asked = 0;
  return async (ask: Ask) => {
    const id = (asked += 1);
    await said({ id, ask });
    return async () => (await said({ id })).reply!;
  };
}
