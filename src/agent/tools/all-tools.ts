// Every built-in tool of the agent, on one page. Tools made for one run come from `packs/`.
import { editFile } from './edit-file.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { searchFiles } from './search-files.ts';
import { shell } from './shell.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { webFetch } from './web-fetch.ts';
import { writeFile } from './write-file.ts';

/** The tools in the order of their names in `tool-names.ts`. */
export const TOOLS: readonly ExecutedTool[] = [readFile, writeFile, editFile, listFiles, searchFiles, webFetch, shell];
