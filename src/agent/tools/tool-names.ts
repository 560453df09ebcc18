// Names of the built-in tools. Apart from the tools themselves, so that the main thread need not load what they stand on.

const SHELL = 'shell';

/** In the order that a model sees them. */
export const TOOL_NAMES: readonly string[] = [
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search_files',
  'web_fetch',
  SHELL,
];

/** Names of the built-in tools that a run gets. Without a sandbox there is no shell. */
export function toolNamesFor(grants: { readonly sandbox: boolean }): string[] {
  return TOOL_NAMES.filter((name) => grants.sandbox || name !== SHELL);
}
