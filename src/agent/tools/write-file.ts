// The `write_file` tool: writes a whole file in the workspace.
import { dirname } from 'node:path/posix';
import { makeDirectoriesBeneath } from '../../disk/make-beneath.ts';
import { replaceFileBeneath } from '../../disk/replace-beneath.ts';
import { openFileBeneath } from '../../disk/open-beneath.ts';
import { MB } from '../../domain/byte-units.ts';
import { detectCharset, markOf } from '../../domain/charsets/detect-charset.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { writtenPath } from './skill-paths.ts';
import { binaryKind } from './text.ts';
import { bytesToWrite, CHARSET_INPUT, noteOn, type WrittenAs } from './written-charset.ts';
import { defineTool, failed, inputOf, requireRoom, succeeded, textOf } from './workspace-tool.ts';

const MAX_BYTES = 10 * MB;

export const writeFile: ExecutedTool = defineTool({
  name: 'write_file',
  description:
    'Writes a text file in the workspace, replacing any existing file. Creates missing folders on its path. To change part of a file, use edit_file.',
  inputSchema: inputOf(
    {
      path: { type: 'string', minLength: 1, description: 'Path in the workspace, such as "report/summary.md".' },
      content: { type: 'string', description: 'The whole content of the file.' },
      charset: CHARSET_INPUT,
    },
    ['path', 'content'],
  ),
  async execute(input, context) {
    const { workspace, workspaceOwner } = context;
    const path = writtenPath(input, context);
    const written = await bytesToWrite(
      textOf(input, 'content'),
      textOf(input, 'charset'),
      await writtenAs(workspace, path),
    );
    if (!written.ok) return failed(written.why);
    const content = written.bytes;
    if (content.length > MAX_BYTES) return failed(`The content is larger than ${MAX_BYTES} bytes.`);
    await requireRoom(content.length, context);
    await makeDirectoriesBeneath(workspace, dirname(path), { owner: workspaceOwner });
    await replaceFileBeneath(workspace, path, content, { owner: workspaceOwner });
    return succeeded(`Wrote ${content.length} bytes to ${path}.${noteOn(written)}`);
  },
});

const UTF8: WrittenAs = { charset: 'utf-8', mark: new Uint8Array() };

/** How the file that is replaced is written; UTF-8 where there is none, and where it is no text. */
async function writtenAs(workspace: string, path: string): Promise<WrittenAs> {
  try {
    await using file = await openFileBeneath(workspace, path);
    const { size } = await file.stat();
    if (size > MAX_BYTES) return UTF8;
    const bytes = await file.readFile();
    const charset = binaryKind(bytes) === undefined ? await detectCharset(bytes) : undefined;
    return charset === undefined ? UTF8 : { charset, mark: markOf(bytes)?.mark ?? UTF8.mark };
  } catch (error) {
    if (error instanceof ErrandError) return UTF8;
    throw error;
  }
}
