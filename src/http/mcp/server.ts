// One server of the protocol for one message: the official library speaks it, the tools answer.
import type {
  CallToolResult,
  ContentBlock,
  ReadResourceResult,
  Server,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server';
import { ErrandError, messageOf } from '../../domain/errors.ts';
import { makeHalt } from '../../domain/halt.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Log } from '../../log/log.ts';
import { VERSION } from '../../version.ts';
import { schemaOf } from '../../wire/mcp/described.ts';
import { INSTRUCTIONS, type ToolName, TOOLS, type ToolWords } from '../../wire/mcp/tools.ts';
import { once, readWhole } from '../../wire/shapes/composites.ts';
import type { Exchange } from '../frame/exchange.ts';
import { resourceAt, type Resource, TEMPLATES } from './addresses.ts';
import type { Link, ToolCall, ToolResult } from './call.ts';
import type { ResourceContents } from './files.ts';

export type Sdk = typeof import('@modelcontextprotocol/server');

/** Tools by their names: each takes what its words say. */
export type ToolTable = { readonly [N in ToolName]: (call: ToolCall, input: never) => Promise<ToolResult> };

export interface ServerParts {
  readonly tools: ToolTable;
  readonly readResource: (call: ToolCall, resource: Resource) => Promise<ResourceContents>;
  readonly log: Log;
}

/** The request that a message came in. */
export interface Incoming {
  readonly caller: KeyCaller;
  readonly exchange: Exchange;
  /** Whether a client that disconnects has cancelled: the protocol says so since 2026-07-28. */
  readonly endsWithConnection: boolean;
  /** Calls `cancel` when another message cancels the request, until the returned function is called. */
  onCancelled(requestId: string | number, cancel: () => void): () => void;
}

const CAPABILITIES = { tools: {}, resources: {} };

/** Makes the servers. */
export function makeMcpServer(sdk: Sdk, { tools, readResource, log }: ServerParts): (incoming: Incoming) => Server {
  const listed = once(() => Object.entries(TOOLS).map(([name, words]) => describe(name, words)));

  async function callTool(call: ToolCall, name: string, given: unknown): Promise<CallToolResult> {
    if (!Object.hasOwn(TOOLS, name))
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool ${name.slice(0, 100)}.`);
    const words: ToolWords = TOOLS[name as ToolName];
    const work = tools[name as ToolName] as (call: ToolCall, input: unknown) => Promise<ToolResult>;
    try {
      return render(await work(call, readWhole<unknown>(words.input, (given ?? {}) as JsonValue)));
    } catch (error) {
      if (error instanceof ErrandError) return { isError: true, content: [{ type: 'text', text: error.message }] };
      throw bug(error);
    }
  }

  async function read(call: ToolCall, uri: string): Promise<ReadResourceResult> {
    const resource = resourceAt(uri);
    if (resource === undefined) throw new sdk.ResourceNotFoundError(uri.slice(0, 1_000));
    try {
      return { contents: [{ uri, ...(await readResource(call, resource)) }] };
    } catch (error) {
      if (!(error instanceof ErrandError)) throw bug(error);
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, error.message);
    }
  }

  /** Anything else that is thrown. Its words are for the log only. */
  function bug(error: unknown): Error {
    log.error({ err: error }, 'call failed');
    return new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, 'Internal error.');
  }

  return (incoming) => {
    const server = new sdk.Server(
      { name: 'errand', title: 'Errand', version: VERSION },
      { capabilities: CAPABILITIES, instructions: INSTRUCTIONS },
    );
    const answering = <T>(context: ServerContext, work: (call: ToolCall) => Promise<T>) =>
      answer(incoming, context, { work, log });
    server.setRequestHandler('tools/list', () => ({ tools: listed() }));
    server.setRequestHandler('tools/call', ({ params }, context) =>
      answering(context, (call) => callTool(call, params.name, params.arguments)),
    );
    server.setRequestHandler('resources/list', () => ({ resources: [] }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...TEMPLATES] }));
    server.setRequestHandler('resources/read', ({ params }, context) =>
      answering(context, (call) => read(call, params.uri)),
    );
    return server;
  };
}

interface Answering<T> {
  readonly work: (call: ToolCall) => Promise<T>;
  readonly log: Log;
}

/** Does the work of one request while somebody waits for it. */
async function answer<T>(incoming: Incoming, { mcpReq }: ServerContext, { work, log }: Answering<T>): Promise<T> {
  const { caller, exchange, endsWithConnection, onCancelled } = incoming;
  const left = makeHalt();
  let isCancelled = false;
  const cancel = () => {
    isCancelled = true;
    left.halt();
  };
  const leave = endsWithConnection ? cancel : () => left.halt();
  mcpReq.signal.addEventListener('abort', leave);
  const forget = onCancelled(mcpReq.id, cancel);
  const { _meta: { progressToken: token } = {} } = mcpReq;
  let progress = 0;
  const report = (words: string) => {
    progress += 1;
    const params = { progressToken: token!, progress, ...(words !== '' && { message: words }) };
    mcpReq.notify({ method: 'notifications/progress', params }).catch((error: unknown) => {
      // The client may leave at any time.
      log.debug({ why: messageOf(error) }, 'progress not sent');
    });
  };
  try {
    if (mcpReq.signal.aborted) leave();
    return await work({
      caller,
      exchange,
      left,
      isCancelled: () => isCancelled,
      report: token === undefined ? null : report,
    });
  } finally {
    forget();
    mcpReq.signal.removeEventListener('abort', leave);
  }
}

function describe(name: string, { title, description, input, output, changes }: ToolWords): Tool {
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(input),
    outputSchema: schemaOf(output),
    annotations: { title, readOnlyHint: !changes, ...(changes && { destructiveHint: false }), openWorldHint: true },
  };
}

/** For clients that read one of them only, the text is the same as the structured content. */
function render({ output, links = [], picture, isError = false }: ToolResult): CallToolResult {
  const content: ContentBlock[] = [
    { type: 'text', text: JSON.stringify(output) },
    ...links.map(renderLink),
    ...(picture === undefined ? [] : [{ type: 'image' as const, ...picture }]),
  ];
  return { content, structuredContent: output, ...(isError && { isError }) };
}

const renderLink = ({ uri, name, mimeType, size }: Link): ContentBlock => ({
  type: 'resource_link',
  uri,
  name,
  ...(mimeType !== null && { mimeType }),
  ...(size !== undefined && { size }),
});
