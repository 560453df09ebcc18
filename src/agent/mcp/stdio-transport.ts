// MCP with a service in the sandbox: one JSON message a line, in bounded lines.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Redactor } from '../../outbound/secrets/redact.ts';
import type { SandboxService } from '../sandbox/service.ts';
import { type Allowance, MAX_MESSAGE_BYTES } from './allowance.ts';
import { redactMessage } from './redact-message.ts';

/** How long a server may take to exit after its input is closed. */
const END_GRACE_MS = 300;
const NEW_LINE = 10;

export interface StdioParts {
  readonly service: SandboxService;
  readonly allowance: Allowance;
  /** Redacts the server's credentials from everything it sends. */
  readonly redact: Redactor;
  /** Reads a line; throws when it is not a message. */
  parse(line: string): JSONRPCMessage;
}

/** A transport over a started service. It closes when the service has ended, for any reason. */
export function stdioTransport({ service, allowance, redact, parse }: StdioParts): Transport {
  let closed = false;
  const transport: Transport = {
    start: async () => {
      service.stdout.on('data', makeLineReader(takeLine, tooMuch));
      void service.ended.then(() => {
        closed = true;
        transport.onclose?.();
      });
    },
    send: async (message) => {
      if (closed || service.stdin.destroyed) throw new Error('The server has ended.');
      allowance.renew();
      if (service.stdin.write(`${JSON.stringify(message)}\n`)) return;
      await Promise.race([new Promise((resolve) => service.stdin.once('drain', resolve)), service.ended]);
    },
    close: async () => {
      await service.close(END_GRACE_MS);
    },
  };

  function takeLine(line: Buffer): void {
    if (!allowance.takeMessage(line.length)) return tooMuch();
    let message: JSONRPCMessage;
    try {
      message = parse(line.toString('utf8'));
    } catch {
      // Some servers print a greeting to the wrong stream.
      if (!allowance.takeNoise(line.length)) tooMuch();
      return;
    }
    redactMessage(message, redact);
    transport.onmessage?.(message);
  }

  function tooMuch(): void {
    service.stdout.removeAllListeners('data').resume();
    service.stop('output');
  }

  return transport;
}

/** Splits a stream into lines. Calls `tooLong` when one is longer than a message may be. */
function makeLineReader(take: (line: Buffer) => void, tooLong: () => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(NEW_LINE); at !== -1; at = chunk.indexOf(NEW_LINE, from)) {
      const line = Buffer.concat([...pieces, chunk.subarray(from, at)]);
      pieces = [];
      bytes = 0;
      from = at + 1;
      if (line.length > 0) take(line);
    }
    if (from === chunk.length) return;
    pieces.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_MESSAGE_BYTES) tooLong();
  };
}
