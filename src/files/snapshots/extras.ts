// What a workspace has besides the contents of its files: which of them may be executed, links that stay in it, and empty folders.
import { type BigIntStats, readlinkSync } from 'node:fs';
import { KB } from '../../domain/byte-units.ts';
import { codeOf } from '../../domain/errors.ts';
import type { ExtrasText } from './snapshot.ts';
import type { FoundEntry, FoundFile } from './walk-files.ts';

/** `target` of a link, as it is read. */
export type Extra =
  | readonly [path: string, kind: 'executable']
  | readonly [path: string, kind: 'folder']
  | readonly [path: string, kind: 'link', target: string];

/** Of the text; what comes after is left out. A package manager's folder of programs has some hundred links. */
const MOST_BYTES = 256 * KB;
const OWNER_EXECUTES = 0o100n;

export const isExecutable = ({ mode }: Pick<BigIntStats, 'mode'>): boolean => (mode & OWNER_EXECUTES) !== 0n;

/** Of a file that has none of its own. */
export const modeFor = (executes: boolean): number => (executes ? 0o755 : 0o644);

/** Gathers them on a walk through a workspace, in its order: a folder comes after what is in it. */
export function gatherExtras() {
  const found: string[] = [];
  let bytes = 0;
  let isComplete = true;
  /** What was recorded last, in whatever way. */
  let last = '';
  const add = (extra: Extra) => {
    const text = JSON.stringify(extra);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes < MOST_BYTES) found.push(text);
    else isComplete = false;
    last = extra[0];
  };
  return {
    /** A file that is recorded. */
    file: ({ path, stats }: FoundFile): void => {
      if (isExecutable(stats)) add([path, 'executable']);
      else last = path;
    },
    link: ({ path, place }: FoundEntry): void => {
      const target = targetOf(place);
      if (target !== undefined && staysInside(path, target)) add([path, 'link', target]);
      else isComplete = false;
    },
    folder: ({ path }: FoundEntry): void => {
      if (path !== '' && !last.startsWith(`${path}/`)) add([path, 'folder']);
    },
    /** Whether nothing was left out. */
    isComplete: (): boolean => isComplete,
    text: (): ExtrasText => (found.length === 0 ? null : `[${found.join(',')}]`),
  };
}

export const readExtras = (text: ExtrasText): readonly Extra[] => (text === null ? [] : (JSON.parse(text) as Extra[]));

/** Where a link leads; undefined when it is none any more, or leads to a name that isn't UTF-8. */
export function targetOf(place: string): string | undefined {
  try {
    const bytes = readlinkSync(place, { encoding: 'buffer' });
    const text = bytes.toString();
    return Buffer.from(text).equals(bytes) ? text : undefined;
  } catch (error) {
    if (GONE.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

const GONE: ReadonlySet<string> = new Set(['ENOENT', 'EINVAL', 'EACCES', 'EPERM', 'ENOTDIR']);

/**
 * Whether a link leads to somewhere in its workspace. It may go up from its folder, but not from a folder that it names, which may be a link
 * itself.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/')) return false;
  let above = path.split('/').length - 2;
  let hasName = false;
  for (const name of target.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') hasName = true;
    else if (hasName || above === 0) return false;
    else above -= 1;
  }
  return true;
}
