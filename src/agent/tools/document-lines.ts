// What `read_file` returns for a PDF, Word or Excel file: lines of its text, which a separate process extracts.
import type { ToolResult } from '../port/protocol.ts';
import type { ReadableFolder } from './skill-paths.ts';
import type { ToolContext } from '../port/tool.ts';
import { failed, succeeded } from './workspace-tool.ts';

/** A binary file, and the requested lines of its text. */
interface WantedLines {
  readonly folder: ReadableFolder;
  /** The type of its bytes, in words. */
  readonly kind: string;
  readonly size: number;
  /** Changes with the file, so that its text is extracted once for all its lines. */
  readonly version: string;
  readonly first: number;
  readonly limit: number;
}

/** Maximum characters of a text that are returned at once. */
const MAX_CHARACTERS = 100_000;

/** Lines of a document's text, or why there are none. */
export async function readDocumentLines(wanted: WantedLines, context: ToolContext): Promise<ToolResult> {
  const { folder, kind, size, version } = wanted;
  const { root, path, prefix } = folder;
  const read = await context.readDocument({ root, path, version });
  const file = `${JSON.stringify(prefix + path)} is a binary file (${kind}, ${size} bytes)`;
  if (read === null) return failed(`${file}. Its text could not be read now.`);
  return 'fault' in read ? failed(`${file}. It ${read.fault}.`) : cutLines(read.text, wanted);
}

function cutLines(text: string, { kind, size, first, limit }: WantedLines): ToolResult {
  const lines = text.split('\n');
  if (first > lines.length)
    return failed(`The text of the file ends before line ${first} (it has ${lines.length} lines).`);
  let end = first - 1;
  let characters = 0;
  while (end < lines.length && end - first + 1 < limit && characters <= MAX_CHARACTERS) {
    characters += lines[end]!.length + 1;
    end += 1;
  }
  // A single line may exceed the limit: it is then returned alone.
  if (characters > MAX_CHARACTERS && end > first) end -= 1;
  const shown = lines.slice(first - 1, end).join('\n');
  const more = end < lines.length ? ` Lines ${first}-${end} of ${lines.length}; continue with offset ${end + 1}.` : '';
  return succeeded(`${shown}\n[This is the text of a ${kind} of ${size} bytes.${more}]`);
}
