// The `edit_file` tool: replaces one exact piece of a text file.
import { openFileBeneath } from '../../disk/open-beneath.ts';
import { replaceFileBeneath } from '../../disk/replace-beneath.ts';
import { MB } from '../../domain/byte-units.ts';
import { openText, type OpenedText } from '../../domain/charsets/charset-text.ts';
import { countOf, replaceEach, squeezedText } from '../../domain/text-pieces.ts';
import { binaryKind } from './text.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { writtenPath } from './skill-paths.ts';
import { bytesToWrite, CHARSET_INPUT, noteOn } from './written-charset.ts';
import { defineTool, failed, inputOf, requireRoom, succeeded, textOf } from './workspace-tool.ts';

const MAX_BYTES = 10 * MB;
const TOO_LARGE = `The file would become larger than ${MAX_BYTES} bytes.`;

export const editFile: ExecutedTool = defineTool({
  name: 'edit_file',
  description:
    'Replaces text in a file of the workspace. `old_text` must match the file exactly, including white space and line endings, and occur once, unless `replace_all` is true.',
  inputSchema: inputOf(
    {
      path: { type: 'string', minLength: 1, description: 'Path in the workspace.' },
      old_text: {
        type: 'string',
        minLength: 1,
        description: 'The text to replace, with enough around it to be unique.',
      },
      new_text: { type: 'string', description: 'The text to put in its place.' },
      replace_all: { type: 'boolean', description: 'Replace every occurrence. Default: false.' },
      charset: CHARSET_INPUT,
    },
    ['path', 'old_text', 'new_text'],
  ),
  async execute(input, context) {
    const { workspace, workspaceOwner } = context;
    const path = writtenPath(input, context);
    const oldText = textOf(input, 'old_text');
    const newText = textOf(input, 'new_text');
    if (oldText === '') return failed('`old_text` is empty.');
    if (oldText === newText) return failed('`old_text` and `new_text` are the same; nothing would change.');
    const read = await readText(workspace, path);
    if (read.fault !== undefined) return failed(`${JSON.stringify(path)} ${read.fault}.`);
    const count = countOf(oldText, read.text);
    if (count === 0) return failed(missing(path, read.text, oldText));
    if (count > 1 && input['replace_all'] !== true) {
      return failed(
        `\`old_text\` occurs ${count} times in ${path}. Include more of the text around it, or set \`replace_all\`.`,
      );
    }
    // Counted before it is made. No charset has more characters than bytes.
    if (read.text.length + count * (newText.length - oldText.length) > MAX_BYTES) return failed(TOO_LARGE);
    const text = replaceEach(oldText, read.text, newText);
    const written = await bytesToWrite(text, textOf(input, 'charset'), read);
    if (!written.ok) return failed(written.why);
    const content = written.bytes;
    if (content.length > MAX_BYTES) return failed(TOO_LARGE);
    await requireRoom(content.length, context);
    await replaceFileBeneath(workspace, path, content, { owner: workspaceOwner });
    return succeeded(`Replaced ${count} ${count === 1 ? 'occurrence' : 'occurrences'} in ${path}.${noteOn(written)}`);
  },
});

type ReadText = (OpenedText & { readonly fault?: never }) | { readonly fault: string };

/** The whole file as text; a fault where writing it back would change bytes outside of the edit. */
async function readText(workspace: string, path: string): Promise<ReadText> {
  const file = await openFileBeneath(workspace, path);
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) return { fault: `is larger than ${MAX_BYTES} bytes` };
    const bytes = await file.readFile();
    const kind = binaryKind(bytes);
    if (kind !== undefined) return { fault: `is a binary file (${kind}, ${size} bytes)` };
    const opened = await openText(bytes);
    if ('text' in opened) return opened;
    const known = opened.charset === undefined ? 'is not text' : `is not valid ${opened.charset}`;
    return { fault: `${known}, so an edit would change other bytes, too; it was not changed` };
  } finally {
    await file.close();
  }
}

function missing(path: string, text: string, oldText: string): string {
  const plain = `\`old_text\` does not occur in ${path}.`;
  if (text.includes(oldText.replaceAll(/\r?\n/g, '\r\n'))) return `${plain} The file's lines end in CRLF ("\\r\\n").`;
  const near = squeezedText(text).includes(squeezedText(oldText));
  return near
    ? `${plain} It does except for white space: copy it exactly from the file.`
    : `${plain} Read the file again.`;
}
