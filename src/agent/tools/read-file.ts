// The `read_file` tool: a text file of the workspace, whole or in part.
import { isAscii } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { openFileBeneath } from '../../disk/open-beneath.ts';
import { KB, MB } from '../../domain/byte-units.ts';
import { decodeAs } from '../../domain/charsets/charset-text.ts';
import { type Charset, detectCharset, isUtf8, wideCharset } from '../../domain/charsets/detect-charset.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { ToolResult } from '../port/protocol.ts';
import { readDocumentLines } from './document-lines.ts';
import { binaryKind, DOCUMENT_KINDS } from './text.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { folderOf } from './skill-paths.ts';
import { defineTool, failed, inputOf, succeeded, textOf } from './workspace-tool.ts';

const MAX_SHOWN_BYTES = 256 * KB;
const CHUNK_BYTES = 64 * KB;
/** What is looked at to learn the charset of a file that isn't UTF-8, and the most that is read of one in UTF-16. */
const MAX_SAMPLE_BYTES = 4 * MB;
const MAX_WIDE_BYTES = 32 * MB;
const LINE_FEED = 0x0a;

/** Whole lines of a file, but for the last one if it is `cut`. */
type Cut = Omit<Excerpt, 'text' | 'charset'> & { readonly bytes: Buffer };

/** Lines of a file. `nextLine` is where to continue; undefined at the end of the file. */
interface Excerpt {
  readonly text: string;
  readonly charset: Charset;
  readonly lines: number;
  readonly nextLine: number | undefined;
  /** The last line is longer than the limit. */
  readonly cut: boolean;
}

export const readFile: ExecutedTool = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace. Returns its text unchanged, up to 256 KB. For more, or for a part, set `offset` (first line, counted from 1) and `limit` (number of lines). A text that is not UTF-8 is converted, and its charset is named. PDF, Word and Excel files are read as text. Other binary files are described, not shown.',
  inputSchema: inputOf(
    {
      path: { type: 'string', minLength: 1, description: 'Path in the workspace, such as "src/app.py".' },
      offset: { type: 'integer', minimum: 1, description: 'First line to return, counted from 1.' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines to return.' },
    },
    ['path'],
  ),
  readsOnly: true,
  async execute(input, context) {
    const { signal } = context;
    const folder = folderOf(textOf(input, 'path'), context);
    const { root, path, prefix } = folder;
    const first = Number(input['offset'] ?? 1);
    const limit = Number(input['limit'] ?? Number.POSITIVE_INFINITY);
    const file = await openFileBeneath(root, path);
    try {
      const { size, ino, mtimeMs } = await file.stat();
      const head = Buffer.alloc(8192);
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      const start = head.subarray(0, bytesRead);
      const kind = binaryKind(start);
      if (kind !== undefined && DOCUMENT_KINDS.has(kind)) {
        const version = `${ino} ${size} ${mtimeMs}`;
        return await readDocumentLines({ folder, kind, size, version, first, limit }, context);
      }
      if (kind !== undefined)
        return failed(`${JSON.stringify(prefix + path)} is a binary file (${kind}, ${size} bytes).`);
      if (bytesRead === 0) return succeeded('[The file is empty.]');
      const wide = wideCharset(start);
      const excerpt =
        wide === undefined
          ? await decoded(file, await cutLines(file, first, limit, signal))
          : await cutWide({ file, size, charset: wide }, first, limit);
      return describe(excerpt, first, size);
    } finally {
      await file.close();
    }
  },
});

/** Reads from the file's start until enough lines are seen; keeps only the requested ones in memory. */
async function cutLines(file: FileHandle, first: number, limit: number, signal: AbortSignal): Promise<Cut> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  let partial = false;
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0)
      return { bytes: Buffer.concat(kept), lines: line - first + (partial ? 1 : 0), nextLine: undefined, cut: false };
    position += bytesRead;
    for (let start = 0; start < bytesRead; ) {
      const feed = chunk.subarray(0, bytesRead).indexOf(LINE_FEED, start);
      const end = feed === -1 ? bytesRead : feed + 1;
      if (line >= first) {
        if (line - first >= limit)
          return { bytes: Buffer.concat(kept), lines: line - first, nextLine: line, cut: false };
        kept.push(chunk.subarray(start, end));
        keptBytes += end - start;
        if (keptBytes > MAX_SHOWN_BYTES) return shorten(Buffer.concat(kept), first, line);
      }
      partial = feed === -1;
      if (!partial) line += 1;
      start = end;
    }
  }
}

/** Too much was kept: returns the whole lines that fit, or the beginning of a single line that is too long. */
function shorten(bytes: Buffer, first: number, line: number): Cut {
  const lastFeed = bytes.lastIndexOf(LINE_FEED, MAX_SHOWN_BYTES - 1);
  if (lastFeed === -1) return { bytes: bytes.subarray(0, MAX_SHOWN_BYTES), lines: 1, nextLine: first + 1, cut: true };
  return { bytes: bytes.subarray(0, lastFeed + 1), lines: line - first, nextLine: line, cut: false };
}

/** Every part of a file is read in the charset that the whole of it is likely in. ASCII is the same in all. */
async function decoded(file: FileHandle, { bytes, ...lines }: Cut): Promise<Excerpt> {
  const charset = isAscii(bytes) ? 'utf-8' : await charsetOf(file, bytes);
  return { ...lines, text: decodeAs(bytes, charset), charset };
}

async function charsetOf(file: FileHandle, shown: Buffer): Promise<Charset> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(MAX_SAMPLE_BYTES), 0, MAX_SAMPLE_BYTES, 0);
  const sample = buffer.subarray(0, bytesRead);
  // A part beyond the sample may be the first that has more than ASCII.
  return (await detectCharset(isUtf8(sample) ? shown : sample)) ?? 'windows-1252';
}

/** The end of a line isn't one byte there, so that the whole text is read. */
async function cutWide(
  { file, size, charset }: { file: FileHandle; size: number; charset: Charset },
  first: number,
  limit: number,
): Promise<Excerpt> {
  if (size > MAX_WIDE_BYTES) throw new ErrandError('too_large', `The file is ${charset} and larger than 32 MB.`);
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
  const all = decodeAs(buffer.subarray(0, bytesRead), charset);
  let [line, start] = [1, 0];
  for (; line < first && start < all.length; line += 1) start = lineEnd(all, start);
  // It ends before the first line: how many are missing.
  if (start === all.length) return { text: '', charset, lines: line - first, nextLine: undefined, cut: false };
  let end = lineEnd(all, start);
  const cut = end - start > MAX_SHOWN_BYTES;
  for (line += 1; !cut && line - first < limit && end < all.length; line += 1) {
    const next = lineEnd(all, end);
    if (next - start > MAX_SHOWN_BYTES) break;
    end = next;
  }
  const text = all.slice(start, Math.min(end, start + MAX_SHOWN_BYTES)).toWellFormed();
  return { text, charset, lines: line - first, nextLine: end < all.length ? line : undefined, cut };
}

/** Where the next line begins, or the text ends. */
function lineEnd(text: string, start: number): number {
  const feed = text.indexOf('\n', start);
  return feed === -1 ? text.length : feed + 1;
}

function describe(excerpt: Excerpt, first: number, size: number): ToolResult {
  const { text, charset } = excerpt;
  if (excerpt.lines <= 0)
    return failed(`The file ends before line ${first} (it has ${first + excerpt.lines - 1} lines).`);
  const notes: string[] = [];
  if (charset !== 'utf-8') notes.push(`The file is not UTF-8; it was read as ${charset}.`);
  if (excerpt.cut) notes.push(`Line ${first} is too long and was truncated at 256 KB.`);
  if (excerpt.nextLine !== undefined) {
    notes.push(
      `Lines ${first}-${first + excerpt.lines - 1} of a file of ${size} bytes; continue with offset ${excerpt.nextLine}.`,
    );
  }
  const separator = text.endsWith('\n') ? '' : '\n';
  return succeeded(notes.length === 0 ? text : `${text}${separator}[${notes.join(' ')}]`);
}
