// A server of the Model Context Protocol on two streams that has its answers from the daemon (0053).
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Client } from '@modelcontextprotocol/client';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { messageOf } from '../../domain/errors.ts';
import { VERSION } from '../../version.ts';
import { ClientError } from '../transport/client-error.ts';
import type { Address } from '../transport/transport.ts';
import { makeDaemonFetch } from './daemon-fetch.ts';

export interface RelayParts {
  readonly address: Address;
  readonly apiKey: string;
  /** What the client of the server writes, and what it reads. */
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** In it, a request that is no longer waited for is cancelled by its connection, on whichever node that ends. */
const REVISION = '2026-07-28';

/** How long a call waits is for the daemon to say, and for whoever asks. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Serves until the input ends. Throws ClientError when the daemon can't be reached at first, or refuses the key. */
export async function relayMcp({ address, apiKey, input, output, signal }: RelayParts): Promise<void> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'errand', version: VERSION }, { versionNegotiation: { mode: { pin: REVISION } } });
  const transport = new StreamableHTTPClientTransport(new URL('http://errand/mcp'), {
    fetch: makeDaemonFetch(address, apiKey),
  });
  const connected = client.connect(transport, { signal }).catch((error: unknown) => {
    throw refusalIn(error);
  });
  // Clients begin without servers that are late, so the rest is loaded meanwhile.
  const [, forServers, { serveStdio, StdioServerTransport }] = await Promise.all([
    connected,
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const ended = once(input, 'close', { signal });
  const serving = serveStdio(() => serverOver(client, forServers), {
    transport: new StdioServerTransport(input, output),
  });
  try {
    await ended;
  } finally {
    await serving.close();
    await client.close();
  }
}

/** The client's own error, which the library has wrapped. */
function refusalIn(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ClientError) return cause;
  return error;
}

type ForServers = typeof import('@modelcontextprotocol/server');

/** Forwards each request, with its progress and its cancellation. */
function serverOver(client: Client, { Server, ProtocolError, ProtocolErrorCode }: ForServers): Server {
  const { instructions, server: info } = { instructions: client.getInstructions(), server: client.getServerVersion() };
  const server = new Server(info ?? { name: 'errand', version: VERSION }, {
    capabilities: client.getServerCapabilities() ?? {},
    ...(instructions !== undefined && { instructions }),
  });

  const options = ({ mcpReq }: ServerContext) => {
    const { _meta: { progressToken } = {} } = mcpReq;
    const tell = (progress: object) =>
      void mcpReq
        .notify({ method: 'notifications/progress', params: { ...progress, progressToken } })
        .catch(() => undefined);
    return { signal: mcpReq.signal, timeout: NO_TIMEOUT_MS, ...(progressToken !== undefined && { onprogress: tell }) };
  };
  const asked = <P extends object>({ _meta, ...params }: P & { readonly _meta?: unknown }) => params;
  const failed = (error: unknown): never => {
    if (error instanceof ProtocolError) throw error;
    throw new ProtocolError(ProtocolErrorCode.InternalError, messageOf(refusalIn(error)));
  };

  server.setRequestHandler('tools/list', ({ method, params = {} }, context) =>
    client.request({ method, params: asked(params) }, options(context)).catch(failed),
  );
  server.setRequestHandler('tools/call', async ({ method, params }, context) => {
    try {
      return await client.request({ method, params: asked(params) }, options(context));
    } catch (error) {
      const refusal = refusalIn(error);
      if (!(refusal instanceof ClientError)) return failed(error);
      return { isError: true, content: [{ type: 'text', text: refusal.message }] };
    }
  });
  server.setRequestHandler('resources/list', ({ method, params = {} }, context) =>
    client.request({ method, params: asked(params) }, options(context)).catch(failed),
  );
  server.setRequestHandler('resources/templates/list', ({ method, params = {} }, context) =>
    client.request({ method, params: asked(params) }, options(context)).catch(failed),
  );
  server.setRequestHandler('resources/read', ({ method, params }, context) =>
    client.request({ method, params: asked(params) }, options(context)).catch(failed),
  );
  return server;
}
