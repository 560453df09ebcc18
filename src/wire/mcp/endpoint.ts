// The endpoint of the Model Context Protocol: one message of JSON-RPC in, its answer out, alone or as a stream.
import { jsonObject, object } from '../shapes/composites.ts';
import { endpoints } from '../endpoint.ts';
import { string } from '../shapes/scalars.ts';
import { named, optional } from '../shapes/shape.ts';

/** What the library of the protocol reads. */
const message = named('McpMessage', jsonObject);

/** Of clients of the protocol before 2026-07-28: tells those of one key apart. */
export const mcpHeaders = object({ 'Mcp-Session-Id': optional(string) });

// biome-ignore format: a table reads best with one endpoint a line
export const mcp = endpoints('key', 'rpc', {
  mcp: { route: 'POST /mcp', summary: 'Send a message of the Model Context Protocol', headers: mcpHeaders, body: message, events: message, reply: message, statuses: [200, 202] },
});
