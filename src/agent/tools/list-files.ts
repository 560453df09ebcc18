// The `list_files` tool: the contents of the workspace, one entry a line.
import type { Entry } from '../../disk/list-beneath.ts';
import { walkBeneath } from '../../disk/walk-beneath.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { folderOf } from './skill-paths.ts';
import { defineTool, inputOf, printableName, succeeded, textOf } from './workspace-tool.ts';

const MAX_ENTRIES = 1000;
const DEFAULT_DEPTH = 3;
const MAX_DEPTH = 50;

export const listFiles: ExecutedTool = defineTool({
  name: 'list_files',
  description: `Lists files and folders of the workspace, one a line: folders end in "/", files are followed by their size in bytes. Looks ${DEFAULT_DEPTH} levels deep unless \`depth\` says otherwise; shows at most ${MAX_ENTRIES} entries.`,
  inputSchema: inputOf(
    {
      path: { type: 'string', description: 'Folder to list. Default: the whole workspace.' },
      depth: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_DEPTH,
        description: 'How many levels to show. 1 is the folder alone.',
      },
    },
    [],
  ),
  readsOnly: true,
  async execute(input, context) {
    const { root, path: top, prefix } = folderOf(textOf(input, 'path'), context);
    const depthLimit = Number(input['depth'] ?? DEFAULT_DEPTH);
    const lines: { path: string; line: string }[] = [];
    let more = false;
    let deeper = false;
    const enter = (_folder: string, depth: number) => {
      if (depth >= depthLimit) deeper = true;
      return depth < depthLimit;
    };
    for await (const { folder, listing } of walkBeneath(root, top, enter)) {
      context.signal.throwIfAborted();
      more ||= listing.more;
      for (const entry of listing.entries) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (lines.length < MAX_ENTRIES) lines.push({ path, line: lineOf(prefix + path, entry) });
        else more = true;
      }
      if (more) break;
    }
    lines.sort((a, b) => (a.path < b.path ? -1 : 1));
    const notes: string[] = [];
    if (lines.length === 0) notes.push('[The folder is empty.]');
    if (more) notes.push(`[Only the first ${lines.length} entries are shown; list a subfolder for more.]`);
    else if (deeper)
      notes.push(`[Folders at level ${depthLimit} were not opened; use \`path\` or \`depth\` to list their contents.]`);
    return succeeded([...lines.map(({ line }) => line), ...notes].join('\n'));
  },
});

function lineOf(path: string, entry: Entry): string {
  const name = printableName(path) + (entry.exact ? '' : ' (its name is not UTF-8)');
  if (entry.kind === 'directory') return `${name}/`;
  if (entry.kind === 'link') return `${name} (symbolic link, not followed)`;
  return entry.kind === 'file' ? `${name} ${entry.size}` : `${name} (pipe, socket or device)`;
}
