// Downloads a reply as it comes, and holds none of it.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { DaemonProcess } from './daemon-process.ts';

interface Downloaded {
  readonly status: number | undefined;
  readonly isWhole: boolean;
}

/**
 * The status of a reply, and whether it came down to its last bracket. On a busy machine a crowd may wait too long for room, and be told
 * to ask again.
 */
export async function download(daemon: Pick<DaemonProcess, 'url' | 'apiKey'>, path: string): Promise<Downloaded> {
  const headers = { Authorization: `Bearer ${daemon.apiKey}` };
  const asked = get(`${daemon.url}${path}`, { headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode === 503 && response.headers['retry-after'] !== undefined) {
    await once(response.resume(), 'end');
    return download(daemon, path);
  }
  let last: Buffer = Buffer.alloc(0);
  for await (const chunk of response as AsyncIterable<Buffer>) if (chunk.length > 0) last = chunk;
  return { status: response.statusCode, isWhole: /[}\]]$/.test(last.subarray(-1).toString()) };
}
