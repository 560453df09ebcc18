// The `search_files` tool: lines of the workspace's files that contain a text or match a pattern.
import { fstatSync } from 'node:fs';
import type { Entry } from '../../disk/list-beneath.ts';
import { openFileBeneath, partsBeneath, statBeneath } from '../../disk/open-beneath.ts';
import { walkBeneath } from '../../disk/walk-beneath.ts';
import { MB } from '../../domain/byte-units.ts';
import { decodeText } from '../../domain/charsets/charset-text.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { ToolResult } from '../port/protocol.ts';
import { type LineMatcher, makeLineMatcher } from './line-matcher.ts';
import { binaryKind } from './text.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { type ReadableFolder, folderOf } from './skill-paths.ts';
import { defineTool, failed, inputOf, printableName, succeeded, textOf } from './workspace-tool.ts';

const MAX_MATCHES = 200;
const MAX_FILE_BYTES = 2 * MB;
/** Matching blocks the thread, so a file gets little time, and the whole search not much more. */
const FILE_TIMEOUT_MS = 500;
const MATCH_BUDGET_MS = 3000;
const WALL_BUDGET_MS = 20_000;
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', '.errand', 'node_modules']);

export const searchFiles: ExecutedTool = defineTool({
  name: 'search_files',
  description: `Searches the workspace's text files and returns matching lines as "path:line: text", at most ${MAX_MATCHES}. \`pattern\` is plain text unless \`regexp\` is true. Binary files, files over 2 MB and the folders .git, .errand and node_modules are skipped; set \`path\` to search inside such a folder.`,
  inputSchema: inputOf(
    {
      pattern: { type: 'string', minLength: 1, maxLength: 1000, description: 'What to look for, within one line.' },
      path: { type: 'string', description: 'Folder or file to search. Default: the whole workspace.' },
      regexp: {
        type: 'boolean',
        description: 'Treat `pattern` as a JavaScript regular expression, without look-around and back-references.',
      },
      ignore_case: { type: 'boolean', description: 'Ignore upper and lower case. Default: false.' },
    },
    ['pattern'],
  ),
  readsOnly: true,
  async execute(input, context) {
    const source = textOf(input, 'pattern');
    if (source === '') return failed('`pattern` is empty.');
    const match = makeLineMatcher({
      source,
      regexp: input['regexp'] === true,
      ignoreCase: input['ignore_case'] === true,
    });
    return searchAll(match, folderOf(textOf(input, 'path'), context), context.signal);
  },
});

interface Tally {
  readonly lines: string[];
  /** What the model should know in addition to the lines. */
  readonly notes: string[];
  readonly deadlineAt: number;
  /** Prefix of the paths that are shown. */
  readonly prefix: string;
  matchMs: number;
  large: number;
  unreadable: number;
}

async function searchAll(match: LineMatcher, folder: ReadableFolder, signal: AbortSignal): Promise<ToolResult> {
  const deadlineAt = performance.now() + WALL_BUDGET_MS;
  const { root, path, prefix } = folder;
  const tally: Tally = { lines: [], notes: [], deadlineAt, prefix, matchMs: 0, large: 0, unreadable: 0 };
  const isWhole = partsBeneath(path).length === 0;
  if (isWhole || (await statBeneath(root, path)).kind === 'directory') await searchFolder(match, folder, signal, tally);
  else await searchText(match, path, await readSmall(root, path, tally), tally);
  if (tally.lines.length === 0) tally.notes.unshift('No matches.');
  if (tally.large > 0) tally.notes.push(`Files larger than 2 MB skipped: ${tally.large}.`);
  if (tally.unreadable > 0) tally.notes.push(`Files that could not be read: ${tally.unreadable}.`);
  return succeeded([...tally.lines, ...(tally.notes.length === 0 ? [] : [`[${tally.notes.join(' ')}]`])].join('\n'));
}

async function searchFolder(
  match: LineMatcher,
  folder: ReadableFolder,
  signal: AbortSignal,
  tally: Tally,
): Promise<void> {
  const { root, path } = folder;
  const enter = (folder: string) => !PASSED_OVER.has(folder.slice(folder.lastIndexOf('/') + 1));
  for await (const { folder, listing } of walkBeneath(root, path, enter)) {
    if (listing.more)
      tally.notes.push(
        `The folder "${printableName(tally.prefix + folder)}" has too many files; not all were searched.`,
      );
    for (const entry of listing.entries) {
      signal.throwIfAborted();
      if (!isSearchable(entry, tally)) continue;
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const bytes = await readSmall(root, file, tally).catch((error: unknown) => {
        // A file may vanish or turn into a link between listing and opening.
        if (!(error instanceof ErrandError)) throw error;
        tally.unreadable += 1;
      });
      if (!(await searchText(match, file, bytes, tally))) return;
    }
  }
}

function isSearchable(entry: Entry, tally: Tally): boolean {
  if (entry.kind !== 'file') return false;
  if (!entry.exact) tally.unreadable += 1;
  else if (entry.size > MAX_FILE_BYTES) tally.large += 1;
  return entry.exact && entry.size <= MAX_FILE_BYTES;
}

/** The file's bytes, or undefined when it is too large. */
async function readSmall(root: string, path: string, tally: Tally): Promise<Buffer | undefined> {
  const file = await openFileBeneath(root, path);
  try {
    const { size } = fstatSync(file.fd);
    if (size <= MAX_FILE_BYTES) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
      return buffer.subarray(0, bytesRead);
    }
    tally.large += 1;
    return undefined;
  } finally {
    await file.close();
  }
}

/** Adds a file's matches to the tally; returns whether the search may continue. */
async function searchText(
  match: LineMatcher,
  path: string,
  bytes: Buffer | undefined | void,
  tally: Tally,
): Promise<boolean> {
  if (bytes === undefined || binaryKind(bytes) !== undefined) return true;
  const decoded = await decodeText(bytes);
  if (decoded === undefined) return true;
  const startedAt = performance.now();
  const found = match(decoded.text, MAX_MATCHES - tally.lines.length + 1, FILE_TIMEOUT_MS);
  tally.matchMs += performance.now() - startedAt;
  const name = printableName(tally.prefix + path);
  if (found === 'slow') {
    tally.notes.push(`The pattern takes too long on ${name}; use a simpler one. The search stopped there.`);
    return false;
  }
  for (const { line, text } of found) tally.lines.push(`${name}:${line}: ${text}`);
  if (tally.lines.length > MAX_MATCHES) {
    tally.lines.length = MAX_MATCHES;
    tally.notes.push(`Only the first ${MAX_MATCHES} matches are shown.`);
    return false;
  }
  if (tally.matchMs <= MATCH_BUDGET_MS && performance.now() <= tally.deadlineAt) return true;
  tally.notes.push(`The search took too long and stopped at ${name}; search a smaller folder.`);
  return false;
}
