// A run for tests of MCP servers: its tools opened as a run opens them, its calls performed as the loop performs them.
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { mcpTools } from '../../../src/agent/packs/mcp-tools.ts';
import { performCall } from '../../../src/agent/loop/perform-call.ts';
import { type McpGrant, NO_EQUIPMENT, type SandboxGrant } from '../../../src/agent/port/grants.ts';
import type { Brief, ToolResult } from '../../../src/agent/port/protocol.ts';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { openChannel } from '../../../src/agent/port/signals.ts';
import type { OpenedTools } from '../../../src/agent/port/tool.ts';
import { type MainSide, makeBrief, makeRun, sitAtMain } from '../../agent/play-main.ts';
import { aloneOn } from '../../agent/run-port.ts';
import { type Of, temporaryDirectory } from '../files/temporary-directory.ts';

const MIB = 1024 * 1024;
const LIMITS = { timeoutMs: 120_000, maxOutputBytes: MIB, memoryBytes: 1_024 * MIB, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!probe.ok) console.warn(`\n*** SKIPPED: every test of MCP servers in the sandbox. ${probe.why} ***\n`);

/** Null when there is no sandbox here; tests that need it are skipped then. */
export const sandbox: SandboxGrant | null = probe.ok ? probe.grant : null;

const node = realpathSync(process.execPath);
const root = fileURLToPath(new URL('../../../', import.meta.url));

type Stdio = Extract<McpGrant['transport'], { kind: 'stdio' }>;
export type Changes = Partial<Omit<McpGrant, 'transport'>> & { readonly stdio?: Partial<Stdio> };

function stdioGrant(file: string, args: readonly string[], { stdio, ...changes }: Changes): McpGrant {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const transport: Stdio = {
    kind: 'stdio',
    command: node,
    args: [script, ...args],
    env: {},
    folders: [root, path.dirname(node)],
    network: false,
    ...stdio,
  };
  const secrets = Object.values(transport.env);
  return { name: 'files', secrets, transport, startTimeoutMs: 60_000, callTimeoutMs: 60_000, tools: null, ...changes };
}

/** The well-behaved server. */
export const goodServer = (changes: Changes = {}) => stdioGrant('mcp-server.mjs', [], changes);
/** The one that misbehaves in a way. */
export const rogueServer = (mode: string, changes: Changes = {}) =>
  stdioGrant('mcp-rogue.mjs', [mode], { name: 'rogue', ...changes });
/** A server at an address. */
export const httpServer = (
  url: string,
  changes: Partial<McpGrant> & { headers?: Record<string, string>; caFile?: string } = {},
): McpGrant => {
  const { headers = {}, caFile = null, ...rest } = changes;
  const transport = { kind: 'http' as const, url, headers, caFile };
  const secrets = Object.values(headers);
  return { name: 'remote', secrets, transport, startTimeoutMs: 60_000, callTimeoutMs: 60_000, tools: null, ...rest };
};

export interface OpenRun {
  readonly opened: OpenedTools;
  readonly brief: Brief;
  readonly main: MainSide;
  call(name: string, input?: Record<string, unknown>): Promise<ToolResult>;
  /** Stops the run, as its user can. */
  stop(): void;
}

/** Opens the servers of a run in a workspace of its own; they are closed when the test, or what `of` is, ends. */
export async function openRun(
  mcp: readonly McpGrant[],
  changes: Partial<Brief> = {},
  of: Of = { onTestFinished },
): Promise<OpenRun> {
  const prepared = await prepareRun(mcp, changes, of);
  const opened = await mcpTools(prepared.run);
  of.onTestFinished(() => opened.close());
  let last = 0;
  return {
    opened,
    brief: prepared.brief,
    main: prepared.main,
    stop: prepared.stop,
    call: (name, input = {}) => {
      last += 1;
      const call = { id: `call-${last}`, name, input: input as never };
      return performCall(prepared.run, { tools: opened.tools, call, fault: undefined });
    },
  };
}

/** A run whose servers are not opened yet. */
export async function prepareRun(mcp: readonly McpGrant[], changes: Partial<Brief> = {}, of: Of = { onTestFinished }) {
  const workspace = temporaryDirectory({}, of);
  const workspaceOwner = sandbox?.owner ?? null;
  const equipment = { ...NO_EQUIPMENT, mcp };
  const brief = await makeBrief({ workspace, workspaceOwner, sandbox, equipment, ...changes });
  const { port1, port2 } = new MessageChannel();
  const main = sitAtMain(port1);
  of.onTestFinished(() => port1.close());
  const channel = openChannel(aloneOn(port2));
  const run = makeRun(brief, channel, { packs: [mcpTools] });
  return { run, brief, main, stop: () => channel.stop({ kind: 'canceled', reason: 'stop' }) };
}

/** Processes of this machine whose command line holds a word that only the test uses. */
export function processesWith(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const isOther = /^\d+$/.test(pid) && Number(pid) !== process.pid;
      return isOther && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false;
    }
  });
}
