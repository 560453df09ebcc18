// One connection to an MCP server: starts or reaches it, lists its tools, calls them, and closes it.
import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { systemClock, within } from '../../domain/clock.ts';
import type { EgressRule } from '../../domain/egress.ts';
import { untilAborted } from '../../domain/until-aborted.ts';
import { type LookUps, watchLookUps } from '../../outbound/look-ups.ts';
import { type Redactor, makeRedactor, secretsIn } from '../../outbound/secrets/redact.ts';
import { VERSION } from '../../version.ts';
import type { McpGrant, SandboxGrant } from '../port/grants.ts';
import type { ToolResult } from '../port/protocol.ts';
import { MAX_COMPLAINT_CHARACTERS, type SandboxService, startInSandbox } from '../sandbox/service.ts';
import { seconds } from '../loop/call/model-failure.ts';
import { makeAllowance } from './allowance.ts';
import { resultOf } from './content.ts';
import { McpFailure, mcpFailure } from './failure.ts';
import { httpTransport } from './http-transport.ts';
import { listTools, type ListedTools } from './list-tools.ts';
import { stdioTransport } from './stdio-transport.ts';

/** A server that reports progress may take this many times its limit for one call. */
const LIMITS_WITH_PROGRESS = 10;

/** Where a server is used from. */
export interface McpSite {
  /** Absolute path of the workspace, which exists. */
  readonly workspace: string;
  /** Null: servers that are programs can't be started. */
  readonly sandbox: SandboxGrant | null;
  readonly egress: readonly EgressRule[];
  /** Ends everything in progress; pending calls reject with its reason. */
  readonly signal: AbortSignal;
  /** Called when the server reports that its tools have changed. */
  toolsChanged(): void;
}

export interface McpConnection extends ListedTools {
  /** The server's instructions to models; empty when it has none. */
  readonly instructions: string;
  /** The name that the server reports. */
  readonly serverName: string;
  readonly startMs: number;
  readonly listMs: number;
  /** Throws McpFailure. */
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolResult>;
  /** The end of the server's standard error; empty for a server at an address. */
  complaint(): string;
  /** Resolves when no process of the server is alive. Never rejects. */
  close(): Promise<void>;
}

/** Why connecting failed, with the end of what the server wrote to its standard error. */
export interface NoConnection {
  readonly failure: McpFailure;
  readonly complaint: string;
}

export type Connected =
  | ({ readonly ok: true } & { readonly connection: McpConnection })
  | ({ readonly ok: false } & NoConnection);

/** The server's process, if it has one, and how it ended. */
interface OpenTransport {
  readonly transport: Transport;
  readonly service: SandboxService | null;
  /** Of a server at an address. */
  readonly lookUps?: LookUps;
  ended: string | null;
}

/** Starts or reaches a server and lists its tools, within the grant's time. Rejects only when the site's signal aborts. */
export async function connectMcp(grant: McpGrant, site: McpSite): Promise<Connected> {
  const deadline = AbortSignal.timeout(grant.startTimeoutMs);
  const signal = AbortSignal.any([deadline, site.signal]);
  const startedAt = performance.now();
  // Whatever it repeats comes to the model, to the log and to whoever checks it.
  const redact = makeRedactor(grant.secrets.flatMap(secretsIn));
  let opened: OpenTransport | undefined;
  let client: Client | undefined;
  const close = async () => {
    await client?.close().catch(() => undefined);
    opened?.service?.stop('canceled');
    await opened?.service?.ended;
  };
  try {
    const sdk = await import('@modelcontextprotocol/client');
    opened = await openTransport(grant, site, redact, sdk);
    client = new sdk.Client({ name: 'errand', version: VERSION }, { capabilities: {} });
    client.setNotificationHandler('notifications/tools/list_changed', site.toolsChanged);
    const options = { signal, timeout: grant.startTimeoutMs };
    await untilAborted(client.connect(opened.transport, options), signal);
    const startMs = performance.now() - startedAt;
    const listed = await untilAborted(listTools(client, grant.tools, options), signal);
    const listMs = performance.now() - startedAt - startMs;
    return { ok: true, connection: makeConnection({ grant, client, opened, redact, listed, startMs, listMs, close }) };
  } catch (error) {
    const unresolved = deadline.aborted ? opened?.lookUps?.givenUp() : undefined;
    // For a server that is about to exit, its exit says more than the broken connection.
    if (opened?.service && !deadline.aborted) await within(systemClock, EXIT_MS, opened.service.ended, undefined);
    const complaint = complaintOf(opened, redact);
    const ended = opened?.ended ?? null;
    // A server that has not responded gets no time to exit by itself.
    opened?.service?.stop('canceled');
    await close();
    site.signal.throwIfAborted();
    const late = deadline.aborted && ended === null && unresolved === undefined;
    const failure = late
      ? new McpFailure(`was not ready within ${seconds(grant.startTimeoutMs)} seconds`)
      : mcpFailure(unresolved ?? error, { timeoutMs: grant.startTimeoutMs, ended, redact });
    return { ok: false, failure, complaint };
  }
}

/** The end of what a program has written to its standard error, at most 8 kB; '' for a server at an address. */
function complaintOf(opened: OpenTransport | undefined, redact: Redactor): string {
  return redact(opened?.service?.complaint() ?? '').text.slice(-MAX_COMPLAINT_CHARACTERS);
}

/** A server that is about to exit does so in this time. */
const EXIT_MS = 100;

type Sdk = typeof import('@modelcontextprotocol/client');

async function openTransport(
  { transport }: McpGrant,
  site: McpSite,
  redact: Redactor,
  sdk: Sdk,
): Promise<OpenTransport> {
  const allowance = makeAllowance();
  if (transport.kind === 'http') {
    const { url, headers, caFile } = transport;
    const tooMuch = () => {
      opened.ended = 'it sent too much and was disconnected';
    };
    const Transport = sdk.StreamableHTTPClientTransport;
    const lookUps = watchLookUps({ purpose: 'mcp', allow: site.egress, caFile });
    const http = httpTransport({ url, headers, lookUps, allowance, redact, tooMuch, Transport });
    const opened: OpenTransport = { transport: http, service: null, lookUps, ended: null };
    return opened;
  }
  if (site.sandbox === null) throw new McpFailure('cannot be started: the sandbox is not available');
  const { command, args, env, folders, network } = transport;
  const service = await startInSandbox(site.sandbox, {
    workspace: site.workspace,
    argv: [command, ...args],
    env,
    network,
    mounts: folders.map((folder) => ({ source: folder, target: folder })),
  });
  const parse = (line: string): JSONRPCMessage => sdk.deserializeMessage(line);
  const opened: OpenTransport = {
    transport: stdioTransport({ service, allowance, redact, parse }),
    service,
    ended: null,
  };
  void service.ended.then((how) => {
    opened.ended = how;
  });
  return opened;
}

interface ConnectionParts {
  readonly grant: McpGrant;
  readonly client: Client;
  readonly opened: OpenTransport;
  readonly redact: Redactor;
  readonly listed: ListedTools;
  readonly startMs: number;
  readonly listMs: number;
  close(): Promise<void>;
}

function makeConnection({
  grant,
  client,
  opened,
  redact,
  listed,
  startMs,
  listMs,
  close,
}: ConnectionParts): McpConnection {
  const timeoutMs = grant.callTimeoutMs;
  return {
    ...listed,
    instructions: client.getInstructions() ?? '',
    serverName: client.getServerVersion()?.name ?? '',
    startMs,
    listMs,
    call: async (name, input, signal) => {
      const options = {
        signal,
        timeout: timeoutMs,
        maxTotalTimeout: timeoutMs * LIMITS_WITH_PROGRESS,
        resetTimeoutOnProgress: true,
        onprogress: () => undefined,
      };
      try {
        return resultOf(await untilAborted(client.callTool({ name, arguments: input }, options), signal));
      } catch (error) {
        signal.throwIfAborted();
        throw mcpFailure(error, { timeoutMs, ended: opened.ended, unresolved: opened.lookUps?.givenUp(), redact });
      }
    },
    complaint: () => complaintOf(opened, redact),
    close,
  };
}
