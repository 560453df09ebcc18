// The tool that calls connected services through the broker of the main thread (I4).
import type { JsonObject } from '../../domain/json.ts';
import type { ConnectionGrant } from '../port/grants.ts';
import type { ToolResult } from '../port/protocol.ts';
import { NO_TOOLS, type ToolPack } from '../loop/run.ts';
import { defineTool, failed, inputOf, textOf } from '../tools/workspace-tool.ts';
import { nothingToClose } from '../port/tool.ts';

/** Only for runs with connections. */
export const connectorTools: ToolPack = ({ brief, channel }) => {
  const { connections } = brief.equipment;
  const token = brief.connectorToken;
  if (connections.length === 0 || token === null) return NO_TOOLS;
  const named = new Map(connections.map((one) => [handleOf(one, connections), one]));
  const handles = [...named.keys()];
  const connectorRequest = defineTool({
    name: 'connector_request',
    description: `Sends an HTTP request to a connected service and returns status, headers and body. The credential is added automatically; never ask for one. The connections:\n${listOf(named)}`,
    inputSchema: inputOf(
      {
        connection: { type: 'string', minLength: 1, description: `Name of the connection: ${handles.join(', ')}.` },
        method: { type: 'string', enum: [...new Set(connections.flatMap(({ methods }) => methods))] },
        path: {
          type: 'string',
          minLength: 1,
          description:
            'Path and query below the base address, such as /v1/items?limit=5; * in an allowed path matches anything.',
        },
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        body: { type: 'string', description: 'The body as text; JSON needs its Content-Type header.' },
      },
      ['connection', 'method', 'path'],
    ),
    readsOnly: true,
    async execute(input) {
      const wanted = textOf(input, 'connection');
      const connection = named.get(wanted) ?? connections.find(({ id }) => id === wanted);
      if (connection === undefined) {
        return failed(`There is no connection "${wanted}". The connections are: ${handles.join(', ')}.`);
      }
      const reply = await channel.request('connector_request', {
        token,
        connectionId: connection.id,
        method: textOf(input, 'method'),
        path: textOf(input, 'path'),
        headers: headersOf(input),
        body: typeof input['body'] === 'string' ? input['body'] : null,
      });
      return describe(reply);
    },
  });
  return { tools: [connectorRequest], notes: [], close: nothingToClose };
};

/** What a model calls a connection: its connector; where there are several, with the connection's own name, or its id. */
function handleOf({ id, name, connector }: ConnectionGrant, all: readonly ConnectionGrant[]): string {
  const alike = all.filter((one) => one.connector === connector);
  if (alike.length === 1) return connector;
  return name !== '' && alike.filter((one) => one.name === name).length === 1 ? `${connector}/${name}` : id;
}

const listOf = (named: ReadonlyMap<string, ConnectionGrant>) =>
  [...named]
    .map(([handle, { connector, description, baseUrl, methods, paths }]) => {
      const of = handle === connector ? '' : ` (of ${connector})`;
      const about = description.replaceAll(/\s+/g, ' ').trim();
      return `- ${handle}${of}: ${about}. Base address ${baseUrl}; methods ${methods.join(', ')}; paths ${paths.join(', ')}`;
    })
    .join('\n');

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
  const cut = reply.truncated ? '\n[… the reply was longer and was truncated here]' : '';
  const output = `${head.join('\n')}\n\n${reply.body}${cut}`;
  return reply.status < 400 ? { ok: true, output } : failed(output);
}
