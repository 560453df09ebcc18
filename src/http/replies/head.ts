// The head of a response: the one place where its status and headers are written.
import type { ServerResponse } from 'node:http';

export type Headers = Readonly<Record<string, string | number>>;

/** Sets headers of the reply, no matter what sends it. */
export function setHeaders(res: ServerResponse, headers: Headers): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
}

/** Fixes status and headers; they are sent with the first bytes of the body. Replaces headers that were set before. */
export function writeHead(res: ServerResponse, status: number, headers: Headers): void {
  setHeaders(res, headers);
  res.writeHead(status);
}

const STALL_LIMIT_MS = 120_000;

/** Disconnects a reader who takes nothing of a file for two minutes; players of media request the rest when they continue. */
export function limitStall(res: ServerResponse): void {
  res.setTimeout(STALL_LIMIT_MS, () => res.destroy());
}
