// Watches single files, by the directories that they are in: files are replaced rather than written to, and links are changed.
import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { openWatch, type WatchCallbacks, type Watcher } from './watch.ts';

/** The link that some orchestrators change when they replace the files of a directory together. */
const DATA_LINK = '..data';

/** Watches these files, and what they are links to. */
export async function openFilesWatch(files: readonly string[], callbacks: WatchCallbacks): Promise<Watcher> {
  const all = files.flatMap((file) => [file, targetOf(file)]);
  const directories = [...new Set(all.map((file) => dirname(file)))];
  const names = new Set([DATA_LINK, ...all.map((file) => basename(file))]);
  const ignored = (path: string) => !directories.includes(path) && !names.has(basename(path));
  return openWatch(directories, { depth: 0, ignored }, callbacks);
}

function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
