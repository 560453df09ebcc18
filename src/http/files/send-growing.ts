// Sends an archive while it is packed: without its size, which nobody knows yet.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { create as contentDisposition } from 'content-disposition';
import type { GrowingFile } from '../../files/archives/growing-file.ts';
import type { OpenedDownload } from '../../operations/sessions/open-file.ts';
import type { Exchange } from '../frame/exchange.ts';
import { type Headers, limitStall, writeHead } from '../replies/head.ts';
import { policyOf } from './policies.ts';
import { PIECE_BYTES, send } from './send-file.ts';

/** How often the end of what is there is looked at. */
const LOOK_MS = 50;

/** Answers with all of it: a range can be asked for once it is packed. Disconnects when it can't be packed. */
export async function sendGrowing({ req, res }: Exchange, opened: OpenedDownload, headers: Headers): Promise<void> {
  const { grant, presentation, download } = opened;
  writeHead(res, 200, {
    ...headers,
    ...policyOf(presentation),
    'Accept-Ranges': 'none',
    'Content-Type': presentation.contentType,
    'Content-Disposition': contentDisposition(grant.name, { type: presentation.disposition }),
  });
  if (req.method === 'HEAD') return void res.end();
  let growing: GrowingFile | null = null;
  try {
    growing = await firstOf(opened, res);
    const sent = growing === null ? 0 : await sendUntilPacked(res, growing, download);
    if (sent !== null) await sendRest(res, opened, { sent, growing });
  } catch {
    // The log has the reason. A client notices that the end is missing.
    res.destroy();
  } finally {
    await growing?.close();
  }
}

/** Waits until there is something of it; null when it was packed before. */
async function firstOf({ download }: OpenedDownload, res: ServerResponse): Promise<GrowingFile | null> {
  for (;;) {
    const growing = await download.open();
    if (growing !== null || res.destroyed || (await isPacked(download))) return growing;
  }
}

/** Whether it is packed, after a moment. Throws when it can't be. */
async function isPacked({ packed }: OpenedDownload['download']): Promise<boolean> {
  return (await Promise.race([packed, sleep(LOOK_MS)])) !== undefined;
}

/** Returns how many bytes were sent; null when the client has disconnected. */
async function sendUntilPacked(
  res: ServerResponse,
  growing: GrowingFile,
  download: OpenedDownload['download'],
): Promise<number | null> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  limitStall(res);
  for (let sent = 0; ; ) {
    const count = await growing.read(piece, sent);
    if (count > 0 && !(await send(res, piece.subarray(0, count)))) return null;
    sent += count;
    if (res.destroyed) return null;
    if (count === 0 && (await isPacked(download))) return sent;
  }
}

interface Rest {
  readonly sent: number;
  readonly growing: GrowingFile | null;
}

/** What was written last; all of it, from the blob, when it was written anew, as after the loss of its thread: the same bytes. */
async function sendRest(res: ServerResponse, opened: OpenedDownload, { sent, growing }: Rest): Promise<void> {
  const { size } = (await opened.download.packed).archive;
  const isSame = growing !== null && (await growing.size()) === size;
  const blob = isSame ? null : await opened.openPacked();
  try {
    for (let at = sent; at < size; ) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
      const count = blob === null ? await growing!.read(piece, at) : piece.length;
      await blob?.read(piece, at);
      if (!(await send(res, piece.subarray(0, count)))) return;
      at += count;
    }
    res.end();
  } finally {
    await blob?.close();
  }
}
