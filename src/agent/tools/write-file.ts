// The `write_file` tool: writes a whole file in the workspace.
import { dirname } from 'node:path/posix';
import { makeDirectoriesBeneath } from '../../disk/make-beneath.ts';
import { replaceFileBeneath } from '../../disk/replace-beneath.ts';
import { MB } from '../../domain/byte-units.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { writtenPath } from './skill-paths.ts';
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
    },
    ['path', 'content'],
  ),
  async execute(input, context) {
    const { workspace, workspaceOwner } = context;
    const path = writtenPath(input, context);
    const content = Buffer.from(textOf(input, 'content'));
    if (content.length > MAX_BYTES) return failed(`The content is larger than ${MAX_BYTES} bytes.`);
    await requireRoom(content.length, context);
    await makeDirectoriesBeneath(workspace, dirname(path), { owner: workspaceOwner });
    await replaceFileBeneath(workspace, path, content, { owner: workspaceOwner });
    return succeeded(`Wrote ${content.length} bytes to ${path}.`);
  },
});
