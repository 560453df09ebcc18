// Names of the built-in tools. Separate from the tools, so that the main thread need not load their dependencies.

import { SUBMIT_RESULT } from '../port/protocol.ts';

const SHELL = 'shell';

/** In the order in which a model sees them. */
export const TOOL_NAMES: readonly string[] = [
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search_files',
  'web_fetch',
  SHELL,
];

/** Names of tools that leave nothing in the workspace, the built-in ones and those that are made for a run. */
export const READING_TOOLS: readonly string[] = [
  'read_file',
  'list_files',
  'search_files',
  'web_fetch',
  'load_skill',
  'connector_request',
  'report_insight',
  'ask_user',
  SUBMIT_RESULT,
];

/** Names of the built-in tools that a run gets. Without a sandbox it has no shell. */
export function toolNamesFor(grants: { readonly sandbox: boolean }): string[] {
  return TOOL_NAMES.filter((name) => grants.sandbox || name !== SHELL);
}
