// The tools of the MCP servers that a run was granted.
import type { JsonObject } from '../../domain/json.ts';
import { squeezedText } from '../../domain/text-pieces.ts';
import { makeRedactor, secretsIn } from '../../outbound/secrets/redact.ts';
import { connectMcp, type McpSite } from '../mcp/connection.ts';
import { keepServer, type McpServer, noteFailure, type Note } from '../mcp/server.ts';
import { nameTools } from '../mcp/tool-names.ts';
import type { McpGrant } from '../port/grants.ts';
import { NO_TOOLS, type Run, type ToolPack } from '../loop/run.ts';
import type { ExecutedTool, OpenedTools } from '../port/tool.ts';

const MAX_INSTRUCTIONS_CHARACTERS = 2_000;
const MAX_NAMES_LISTED = 10;

/** Starts all servers concurrently. If one can't be used, the run lacks only its tools. */
export const mcpTools: ToolPack = (run) => {
  const grants = run.brief.equipment.mcp;
  return grants.length === 0 ? NO_TOOLS : openServers(run, grants);
};

async function openServers(run: Run, grants: readonly McpGrant[]): Promise<OpenedTools> {
  // A server may write there.
  if (grants.some(({ transport }) => transport.kind === 'stdio')) await run.workspace.prepare();
  const settled = await Promise.allSettled(grants.map((grant) => openServer(run, grant)));
  const opened = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const servers = opened.flatMap(({ server }) => (server === null ? [] : [server]));
  const close = async () => {
    await Promise.allSettled(servers.map((server) => server.close()));
  };
  const failure = settled.find((one) => one.status === 'rejected');
  if (failure !== undefined) {
    await close();
    throw failure.reason;
  }
  return { tools: toolsOf(servers), notes: opened.flatMap(({ notes }) => notes), close };
}

interface Opened {
  readonly server: McpServer | null;
  readonly notes: readonly string[];
}

async function openServer({ brief, channel }: Run, grant: McpGrant): Promise<Opened> {
  const note: Note = (message, facts) =>
    channel.send({ t: 'log', level: 'warn', message, facts: redacted(facts, grant) });
  let hasReportedChange = false;
  const site: McpSite = {
    workspace: brief.workspace,
    sandbox: brief.sandbox,
    egress: brief.egress,
    signal: channel.halt.signal,
    toolsChanged: () => {
      if (hasReportedChange) return;
      hasReportedChange = true;
      const facts = { mcp_server: grant.name };
      channel.send({
        t: 'log',
        level: 'info',
        message: 'An MCP server changed its tools; this run keeps those it started with.',
        facts,
      });
    },
  };
  const connected = await connectMcp(grant, site);
  if (!connected.ok) {
    noteFailure(grant, connected, note);
    const why = `The MCP server "${grant.name}" ${connected.failure.why}. Its tools are not available in this turn.`;
    return { server: null, notes: [why] };
  }
  const { leftOut, surplus } = connected.connection;
  const redact = makeRedactor(grant.secrets.flatMap(secretsIn));
  const named = leftOut.map(({ name, why }) => ({ name: redact(name).text, why }));
  channel.send({ t: 'tools-listed', server: grant.name, leftOut: named, surplus });
  return { server: keepServer(grant, site, connected.connection, note), notes: notesOn(grant, connected.connection) };
}

/** Facts for the log without the server's credentials: its last output may repeat one. */
function redacted(facts: JsonObject, { name, secrets }: McpGrant): JsonObject {
  const redact = makeRedactor(secrets.flatMap(secretsIn));
  return { ...mapTexts(facts, (text) => redact(text).text), mcp_server: name };
}

const mapTexts = (facts: JsonObject, change: (text: string) => string): JsonObject =>
  Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, typeof fact === 'string' ? change(fact) : fact]),
  );

function notesOn(
  { name }: McpGrant,
  { leftOut, surplus, missing, instructions, tools }: McpServer['connection'],
): string[] {
  const server = `the MCP server "${name}"`;
  const listed = leftOut.slice(0, MAX_NAMES_LISTED).map((tool) => `"${squeezedText(tool.name)}" (${tool.why})`);
  const more = leftOut.length - listed.length + surplus;
  const words = squeezedText(instructions).slice(0, MAX_INSTRUCTIONS_CHARACTERS).toWellFormed();
  return [
    ...(words === '' || tools.length === 0 ? [] : [`What ${server} says of its tools: ${words}`]),
    ...(listed.length === 0
      ? []
      : [`Unusable tools of ${server}: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`]),
    ...(missing.length === 0 ? [] : [`${server.replace('the', 'The')} does not have: ${missing.join(', ')}.`]),
  ];
}

function toolsOf(servers: readonly McpServer[]): ExecutedTool[] {
  const all = servers.flatMap((server) => server.connection.tools.map((tool) => ({ server, tool })));
  const names = nameTools(all.map(({ server, tool }) => ({ server: server.name, tool: tool.name })));
  return all.map(({ server, tool }, at) => ({
    kind: 'executes',
    name: names[at]!,
    description: tool.description || `The tool "${tool.name}" of the MCP server "${server.name}".`,
    inputSchema: tool.inputSchema,
    check: tool.check,
    readsOnly: !server.writes,
    writes: server.writes,
    execute: (input, { signal }) => server.call(tool, input, signal),
  }));
}
