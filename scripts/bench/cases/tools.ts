// The cases of tools, in this process: what the sandbox adds to starting a program, and Errand to calling an MCP server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { connectMcp } from '../../../src/agent/mcp/connection.ts';
import { keepServer } from '../../../src/agent/mcp/server.ts';
import type { McpGrant, SandboxGrant } from '../../../src/agent/port/grants.ts';
import { probeSandbox, runInSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import type { Figures, Scale } from './scale.ts';
import { quantile } from '../load.ts';

const LIMITS = { timeoutMs: 15_000, maxOutputBytes: 65_536, memoryBytes: 1_024 * 1_048_576, maxProcesses: 64 };
const SERVER = new URL('../../../test/support/mcp/mcp-server.mjs', import.meta.url);
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs every case; what needs a sandbox is left out where there is none. */
export async function measureTools(scratch: string, scale: Scale, say: (text: string) => void): Promise<Figures> {
  const workspace = join(scratch, 'tools');
  mkdirSync(workspace);
  const bareSpawn = await middleOf(scale.single, bareCommand);
  const bareCall = await callInProcess(scale);
  const bare = { spawnBareP50Ms: bareSpawn, mcpBareP50Ms: bareCall };
  const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
  if (!probe.ok) {
    say(`without the sandbox: ${probe.why}`);
    return bare;
  }
  const { signal } = new AbortController();
  const shell = await middleOf(scale.single, () => runInSandbox(probe.grant, { workspace, command: 'true', signal }));
  return { ...bare, spawnSandboxP50Ms: shell, ...(await callInSandbox(workspace, probe.grant, scale)) };
}

async function bareCommand(): Promise<void> {
  await once(spawn('/bin/sh', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] }), 'close');
}

async function callInProcess(scale: Scale): Promise<number> {
  const { makeServer } = (await import(SERVER.href)) as {
    makeServer(): { connect(transport: unknown): Promise<void> };
  };
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await makeServer().connect(theirs);
  const client = new Client({ name: 'bench', version: '0' });
  await client.connect(mine);
  const call = () => client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
  const middle = await middleOf(scale.single * 4, call);
  await client.close();
  return middle;
}

async function callInSandbox(workspace: string, sandbox: SandboxGrant, scale: Scale): Promise<Figures> {
  const node = realpathSync(process.execPath);
  const grant: McpGrant = {
    name: 'bench',
    secrets: [],
    transport: {
      kind: 'stdio',
      command: node,
      args: [fileURLToPath(SERVER)],
      env: {},
      folders: [root, dirname(node)],
      network: false,
    },
    startTimeoutMs: 15_000,
    callTimeoutMs: 10_000,
    tools: null,
  };
  const { signal } = new AbortController();
  const site = { workspace, sandbox, egress: [], signal, toolsChanged: () => undefined };
  const connected = await connectMcp(grant, site);
  if (!connected.ok) throw new Error(`The MCP server ${connected.failure.why}.`);
  const { connection } = connected;
  const server = keepServer(grant, site, connection, () => undefined);
  const add = connection.tools.find(({ name }) => name === 'add')!;
  const middle = await middleOf(scale.single * 4, async () => {
    const input = { a: 2, b: 3 };
    const faults = add.check(input);
    const result = await server.call(add, input, signal);
    if (faults.length > 0 || result.output !== '5') throw new Error(`Not 5: ${result.output}`);
  });
  await server.close();
  return { mcpSandboxP50Ms: middle, mcpStartMs: connection.startMs + connection.listMs };
}

/** The median duration of something repeated, one at a time, in milliseconds. */
async function middleOf(times: number, work: () => Promise<unknown>): Promise<number> {
  await work();
  const durations: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const startedAt = performance.now();
    await work();
    durations.push(performance.now() - startedAt);
  }
  return quantile(durations, 0.5);
}
