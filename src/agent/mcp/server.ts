// An MCP server during one run: its tools as of the start, its calls, and one restart after it was lost.
import type { JsonObject } from '../../domain/json.ts';
import type { McpGrant } from '../port/grants.ts';
import type { ToolResult } from '../port/protocol.ts';
import { connectMcp, type McpConnection, type McpSite, type NoConnection } from './connection.ts';
import { McpFailure } from './failure.ts';
import type { ServerTool } from './list-tools.ts';

/** Logs what an administrator should know. */
export type Note = (message: string, facts: JsonObject) => void;

export interface McpServer {
  readonly name: string;
  /** As it was when the run began. */
  readonly connection: McpConnection;
  /** Whether it runs in the sandbox with the workspace, and may write there. */
  readonly writes: boolean;
  /** Failures are part of the result; rejects only when the signal aborts. */
  call(tool: ServerTool, input: JsonObject, signal: AbortSignal): Promise<ToolResult>;
  close(): Promise<void>;
}

/** Keeps a server of a run for its calls. A lost connection is reopened once per run, at the next call. */
export function keepServer(grant: McpGrant, site: McpSite, first: McpConnection, note: Note): McpServer {
  let current: McpConnection | null = first;
  let restarted = false;

  async function lose(connection: McpConnection, failure: McpFailure): Promise<void> {
    note('An MCP server was lost in the middle of a run.', {
      mcp_server: grant.name,
      why: failure.why,
      stderr: connection.complaint(),
    });
    if (current === connection) current = null;
    await connection.close();
  }

  /** The connection to call on, or why there is none. */
  async function connected(): Promise<McpConnection | McpFailure> {
    if (current !== null) return current;
    if (restarted) return new McpFailure('has ended and is not restarted in this turn');
    restarted = true;
    const opened = await connectMcp(grant, site);
    if (!opened.ok) {
      noteFailure(grant, opened, note);
      return opened.failure;
    }
    current = opened.connection;
    return current;
  }

  return {
    name: grant.name,
    connection: first,
    writes: grant.transport.kind === 'stdio',
    call: async (tool, input, signal) => {
      const connection = await connected();
      if (connection instanceof McpFailure) return failed(grant, connection);
      try {
        return await connection.call(tool.name, input, signal);
      } catch (error) {
        if (!(error instanceof McpFailure)) throw error;
        if (error.lost) await lose(connection, error);
        return failed(grant, error);
      }
    },
    close: async () => {
      await current?.close();
    },
  };
}

/** Logs in full what the model sees in brief. */
export function noteFailure({ name }: McpGrant, { failure, complaint }: NoConnection, note: Note): void {
  note('An MCP server could not be used.', { mcp_server: name, why: failure.why, stderr: complaint });
}

function failed({ name }: McpGrant, { why }: McpFailure): ToolResult {
  return { ok: false, output: `The MCP server "${name}" ${why}.` };
}
