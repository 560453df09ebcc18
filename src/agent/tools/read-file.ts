// The `read_file` tool: a text file of the workspace, whole or in part.
import type { FileHandle } from 'node:fs/promises';
import { openFileBeneath } from '../../disk/open-beneath.ts';
import { KB } from '../../domain/byte-units.ts';
import type { ToolResult } from '../port/protocol.ts';
import { readDocumentLines } from './document-lines.ts';
import { binaryKind, decodeText, DOCUMENT_KINDS } from './text.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { folderOf } from './skill-paths.ts';
import { defineTool, failed, inputOf, succeeded, textOf } from './workspace-tool.ts';

const MAX_SHOWN_BYTES = 256 * KB;
const CHUNK_BYTES = 64 * KB;
const LINE_FEED = 0x0a;

/** Lines of a file. `nextLine` is where to continue; undefined at the end of the file. */
interface Excerpt {
  readonly bytes: Buffer;
  readonly lines: number;
  readonly nextLine: number | undefined;
  /** The last line is longer than the limit. */
  readonly cut: boolean;
}

export const readFile: ExecutedTool = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace. Returns its text unchanged, up to 256 KB. For more, or for a part, set `offset` (first line, counted from 1) and `limit` (number of lines). PDF, Word and Excel files are read as text. Other binary files are described, not shown.',
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
      const kind = binaryKind(head.subarray(0, bytesRead));
      if (kind !== undefined && DOCUMENT_KINDS.has(kind)) {
        const version = `${ino} ${size} ${mtimeMs}`;
        return await readDocumentLines({ folder, kind, size, version, first, limit }, context);
      }
      if (kind !== undefined)
        return failed(`${JSON.stringify(prefix + path)} is a binary file (${kind}, ${size} bytes).`);
      if (bytesRead === 0) return succeeded('[The file is empty.]');
      return describe(await cutLines(file, first, limit, signal), first, size);
    } finally {
      await file.close();
    }
  },
});

/** Reads from the file's start until enough lines are seen; keeps only the requested ones in memory. */
async function cutLines(file: FileHandle, first: number, limit: number, signal: AbortSignal): Promise<Excerpt> {
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
function shorten(bytes: Buffer, first: number, line: number): Excerpt {
  const lastFeed = bytes.lastIndexOf(LINE_FEED, MAX_SHOWN_BYTES - 1);
  if (lastFeed === -1) return { bytes: bytes.subarray(0, MAX_SHOWN_BYTES), lines: 1, nextLine: first + 1, cut: true };
  return { bytes: bytes.subarray(0, lastFeed + 1), lines: line - first, nextLine: line, cut: false };
}

function describe(excerpt: Excerpt, first: number, size: number): ToolResult {
  const { text, encoding } = decodeText(excerpt.bytes);
  if (excerpt.lines <= 0)
    return failed(`The file ends before line ${first} (it has ${first + excerpt.lines - 1} lines).`);
  const notes: string[] = [];
  if (encoding !== 'UTF-8') notes.push(`The file is not UTF-8; it was read as ${encoding}.`);
  if (excerpt.cut) notes.push(`Line ${first} is too long and was truncated at 256 KB.`);
  if (excerpt.nextLine !== undefined) {
    notes.push(
      `Lines ${first}-${first + excerpt.lines - 1} of a file of ${size} bytes; continue with offset ${excerpt.nextLine}.`,
    );
  }
  const separator = text.endsWith('\n') ? '' : '\n';
  return succeeded(notes.length === 0 ? text : `${text}${separator}[${notes.join(' ')}]`);
}
