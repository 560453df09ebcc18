// Saves a file of a session in a folder of this machine, under its own name. Never overwrites.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/transport/client-error.ts';

/** Answers what became of it, in a sentence. */
export async function saveFile(
  client: Client,
  { url, name }: { readonly url: string; readonly name: string },
  directory: string,
): Promise<string> {
  const path = join(directory, localName(name));
  const unfinished = join(directory, `.${randomUUID()}.part`);
  try {
    await pipeline(await client.download(url), createWriteStream(unfinished, { flags: 'wx' }));
    // Unlike a rename, it fails where something is.
    await link(unfinished, path);
    return `Saved ${path}`;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return `${path} exists. Nothing was saved.`;
    const why =
      error instanceof ClientError || codeOf(error) !== undefined ? (error as Error).message : 'It broke off.';
    return `Not saved: ${why}`;
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** The agent chose the name: nothing of it leads elsewhere or hides the file. */
function localName(name: string): string {
  const own = basename(name.replaceAll('\\', '/'))
    .replace(/\p{Cc}/gu, '')
    .replace(/^\.+/, '');
  return own === '' ? 'file' : own;
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);
