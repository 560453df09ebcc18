// The tools of MCP servers that no agent can use, as runs and checks last found them.
import type { UnusableTool } from '../agent/port/protocol.ts';
import type { Log } from '../log/log.ts';
import { safeLine } from '../terminal/text.ts';

/** More servers than anybody defines. */
const MAX_SERVERS = 1_000;
const MAX_NAMED = 5;

/** The tools of one server that no agent can use, and how many more there are. */
export interface LeftOut {
  readonly leftOut: readonly UnusableTool[];
  readonly surplus: number;
}

export interface UnusableTools {
  /** A server has listed its tools, to a run or to a check. */
  listed(server: string, unusable: LeftOut): void;
  /** One line for each of these servers that lists tools nobody can use, with their names and why. */
  wordsOn(servers: Iterable<string>): readonly string[];
}

/** Keeps what was found in memory, and logs it when it changes. */
export function makeUnusableTools({ log }: { readonly log: Log }): UnusableTools {
  const found = new Map<string, string>();
  return {
    listed: (server, unusable) => {
      const before = found.get(server);
      const words = unusable.leftOut.length === 0 ? undefined : wordsOf(unusable);
      if (before === words) return;
      found.delete(server);
      if (words === undefined) return log.info({ mcp_server: server }, 'all tools of an MCP server can be used again');
      if (found.size >= MAX_SERVERS) found.delete(found.keys().next().value!);
      found.set(server, words);
      log.warn({ mcp_server: server, tools: words }, 'an MCP server lists tools that cannot be used');
    },
    wordsOn: (servers) =>
      [...servers].flatMap((server) => {
        const words = found.get(server);
        return words === undefined ? [] : [`the MCP server "${server}" lists tools that can't be used: ${words}`];
      }),
  };
}

function wordsOf({ leftOut, surplus }: LeftOut): string {
  const named = leftOut.slice(0, MAX_NAMED).map(({ name, why }) => `"${safeLine(name)}" (${why})`);
  const more = leftOut.length - named.length + surplus;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
