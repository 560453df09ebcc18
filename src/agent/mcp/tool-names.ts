// The names under which models see the tools of MCP servers.
import { createHash } from 'node:crypto';

const MAX_CHARACTERS = 64;
const MARK_CHARACTERS = 7;

/** A tool by the names that its administrator and its server gave it. */
export interface NamedTool {
  readonly server: string;
  readonly tool: string;
}

/**
 * `mcp__<server>__<tool>` for each, in characters and a length that every model server accepts. Names that would be too long or
 * equal get a hash of the full names as a suffix, so that a tool's name does not depend on the other tools.
 */
export function nameTools(tools: readonly NamedTool[]): string[] {
  const plain = tools.map(({ server, tool }) => `mcp__${clean(server)}__${clean(tool)}`);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return plain.map((name, at) => {
    if (name.length <= MAX_CHARACTERS && counts.get(name) === 1) return name;
    return `${name.slice(0, MAX_CHARACTERS - MARK_CHARACTERS)}_${markOf(tools[at]!)}`;
  });
}

const clean = (name: string) => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');

function markOf({ server, tool }: NamedTool): string {
  return createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, MARK_CHARACTERS - 1);
}
