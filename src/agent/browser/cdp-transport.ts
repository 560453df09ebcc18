// The connection to a browser: messages of the DevTools protocol over two pipes, each terminated by a NUL.
import { setImmediate as nextTask } from 'node:timers/promises';
import type { ConnectOverCDPTransport } from 'playwright-core';
import type { Readable, Writable } from 'node:stream';
import { MB } from '../../domain/byte-units.ts';

/** A screenshot of a tall page is a message of some ten megabytes. */
const MAX_MESSAGE_BYTES = 64 * MB;

export interface CdpPipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Ends the browser. */
  end(): void;
}

/** The transport for Playwright. It ends a browser that sends an invalid or oversized message. */
export function cdpTransport({ stdin, stdout, end }: CdpPipes): ConnectOverCDPTransport {
  const transport: ConnectOverCDPTransport = {
    send: (message) => void stdin.write(`${JSON.stringify(message)}\0`),
    close: end,
  };
  void handOn(stdout, transport)
    .catch(end)
    .finally(() => transport.onclose?.());
  return transport;
}

/**
 * Delivers each message in its own task. On a reply, Playwright starts to listen for events that may follow immediately; if it
 * misses one, it never gets the page of a new window.
 */
async function handOn(stdout: Readable, transport: ConnectOverCDPTransport): Promise<void> {
  for await (const message of messagesOf(stdout)) {
    transport.onmessage?.(message);
    await nextTask();
  }
}

async function* messagesOf(stdout: Readable): AsyncGenerator<object> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer) => {
    parts.push(part);
    bytes += part.length;
    if (bytes > MAX_MESSAGE_BYTES) throw new Error('The browser sent a message that is too large.');
  };
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    let start = 0;
    for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, start)) {
      take(chunk.subarray(start, at));
      const message = JSON.parse(Buffer.concat(parts).toString()) as object;
      parts = [];
      bytes = 0;
      start = at + 1;
      yield message;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  }
}
