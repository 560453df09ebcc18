// The tool that calls connected services through the broker of the main thread (I4).
import type { JsonObject } from '../../domain/json.ts';
import type { ConnectionGrant } from '../grants.ts';
import type { ToolResult } from '../protocol.ts';
import type { ToolPack } from '../run.ts';
import { defineTool, failed, inputOf, textOf } from '../tools/workspace-tool.ts';

/** A run without connections has no such tool. */
export const connectorTools: ToolPack = async ({ brief, channel }) => {
  const { connections } = brief.equipment;
  const token = brief.connectorToken;
  const close = async () => undefined;
  if (connections.length === 0 || token === null) return { tools: [], notes: [], close };
  const connectorRequest = defineTool({
    name: 'connector_request',
    description: `Sends an HTTP request to a connected service and returns status, headers and body. The credential is added on the way; never ask for one. Connections: ${listOf(connections)}`,
    inputSchema: inputOf(
      {
        connection: { type: 'string', enum: connections.map(({ id }) => id), description: 'Id of the connection.' },
        method: { type: 'string', enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] },
        path: {
          type: 'string',
          minLength: 1,
          description: 'Path and query below the base address, such as /v1/items?limit=5.',
        },
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        body: { type: 'string', description: 'The body as text; JSON needs its Content-Type header.' },
      },
      ['connection', 'method', 'path'],
    ),
    async execute(input) {
      const reply = await channel.request('connector_request', {
        token,
        connectionId: textOf(input, 'connection'),
        method: textOf(input, 'method'),
        path: textOf(input, 'path'),
        headers: headersOf(input),
        body: typeof input['body'] === 'string' ? input['body'] : null,
      });
      return describe(reply);
    },
  });
  return { tools: [connectorRequest], notes: [], close };
};

const listOf = (connections: readonly ConnectionGrant[]) =>
  connections
    .map(({ id, connector, description, baseUrl }) => `${id} (${connector}: ${description}; ${baseUrl})`)
    .join('; ');

function headersOf(input: JsonObject): Record<string, string> {
  return { ...(input['headers'] as Record<string, string> | undefined) };
}

function describe(reply: {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly truncated: boolean;
}): ToolResult {
  const head = [`status ${reply.status}`, ...Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}`)];
  const cut = reply.truncated ? '\n[… the reply was longer and was cut here]' : '';
  const output = `${head.join('\n')}\n\n${reply.body}${cut}`;
  return reply.status < 400 ? { ok: true, output } : failed(output);
}
