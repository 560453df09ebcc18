// Checks an MCP server as a run would use it: starts or reaches it, lists its tools, and closes it.
import { systemClock, within } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Finding, McpCheckReport, McpCheckTask } from './check-task.ts';
import { connectMcp, type McpConnection } from '../mcp/connection.ts';
import { nameTools } from '../mcp/tool-names.ts';

/** Starts the server, lists its tools and closes it. Every problem becomes a finding. */
export async function checkMcp(task: McpCheckTask): Promise<McpCheckReport> {
  const { grant, workspace, sandbox, egress } = task;
  // The thread of a check is ended from outside.
  const { signal } = new AbortController();
  const connected = await connectMcp(grant, { workspace, sandbox, egress, signal, toolsChanged: () => undefined });
  if (!connected.ok) {
    const { failure, complaint } = connected;
    const detail = `The server ${failure.why}.`;
    return { ...NOTHING, findings: [{ check: 'start', state: 'failed', detail }], stderr: complaint };
  }
  const { connection } = connected;
  const { serverName, startMs, listMs, tools } = connection;
  const names = nameTools(tools.map(({ name }) => ({ server: grant.name, tool: name })));
  const closed = await closeTimed(connection);
  return {
    findings: [startOf(connection), ...listOf(connection), closed],
    serverName,
    startMs: Math.round(startMs),
    listMs: Math.round(listMs),
    tools: tools.map(({ description }, at) => ({ name: names[at]!, description })),
    leftOut: connection.leftOut,
    surplus: connection.surplus,
    stderr: '',
  };
}

const NOTHING = { serverName: '', startMs: null, listMs: null, tools: [], leftOut: [], surplus: 0 };

function startOf({ serverName, startMs }: McpConnection): Finding {
  const name = serverName === '' ? 'The server' : `The server ("${serverName}")`;
  return { check: 'start', state: 'ok', detail: `${name} was ready after ${Math.round(startMs)} ms.` };
}

function listOf({ tools, leftOut, surplus, missing, listMs }: McpConnection): Finding[] {
  const many = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
  const warning = (detail: string): Finding => ({ check: 'tools', state: 'warning', detail });
  return [
    tools.length === 0
      ? warning('The server has no usable tool.')
      : { check: 'tools', state: 'ok', detail: `It lists ${many} after ${Math.round(listMs)} ms.` },
    ...leftOut.map(({ name, why }) => warning(`The tool "${name}" is left out: ${why}.`)),
    ...(surplus === 0 ? [] : [warning(`${surplus} more tools are left out.`)]),
    ...missing.map((name) => warning(`The tool "${name}" is granted, but the server does not have it.`)),
  ];
}

const CLOSE_TIMEOUT_MS = 10_000;

async function closeTimed(connection: McpConnection): Promise<Finding> {
  const startedAt = performance.now();
  try {
    const end = await within(systemClock, CLOSE_TIMEOUT_MS, connection.close(), 'late');
    if (end === 'late') return { check: 'close', state: 'failed', detail: 'The server does not exit.' };
    const ms = Math.round(performance.now() - startedAt);
    return { check: 'close', state: 'ok', detail: `The server had exited completely after ${ms} ms.` };
  } catch (error) {
    return { check: 'close', state: 'failed', detail: `The server could not be closed: ${messageOf(error)}` };
  }
}
