// Models, and how models and MCP servers answered when they were checked.
import { array, object } from '../shapes/composites.ts';
import { endpoints } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { boolean, integer, number, oneOf, string } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse } from '../shapes/shape.ts';

/** A model and where it is. */
const place = { name: string, endpoint: string, kind: string, model: string };

/** A model of models.yaml. */
const model = named(
  'Model',
  record({
    ...place,
    contextWindow: integer({ from: 0 }),
    maxOutputTokens: integer({ from: 0 }),
    images: boolean,
    scenarios: array(string),
    isDefault: called('default', boolean),
  }),
);
export type ModelWire = JsonOf<typeof model>;

/** One aspect that a check examined. */
const finding = named(
  'Finding',
  object({ check: string, state: oneOf(['ok', 'warning', 'failed', 'skipped']), detail: string }),
);
export type FindingWire = JsonOf<typeof finding>;

/** `context`: whether the context window is filled, too; it is when nothing is said. */
const modelCheckRequest = named('ModelCheckRequest', request({ context: orElse(nullable(boolean), true) }));

const duration = nullable(number({ from: 0 }));
const outcome = {
  ok: made(boolean, ({ findings }: { readonly findings: readonly FindingWire[] }) =>
    findings.every(({ state }) => state !== 'failed'),
  ),
  findings: array(finding),
};

/** How a model answered. */
const modelCheck = named(
  'ModelCheck',
  record({
    ...place,
    ...outcome,
    firstTokenMs: duration,
    tokensPerSecond: duration,
    durationMs: integer({ from: 0 }),
  }),
);
export type ModelCheckWire = JsonOf<typeof modelCheck>;

/** How an MCP server answered. */
const mcpServerCheck = named(
  'McpServerCheck',
  record({
    id: nullable(integer()),
    name: string,
    serverName: string,
    ...outcome,
    tools: array(object({ name: string, description: string })),
    startMs: duration,
    listMs: duration,
    stderr: string,
    durationMs: integer({ from: 0 }),
  }),
);

/** Longer than the daemon's limit of any check. */
const CHECK_MS = 1_200_000;
const check = { endsWithClient: true, patienceMs: CHECK_MS } as const;

/** The models of the catalog, for administrators. They are checked with real calls, which may take minutes. */
// biome-ignore format: a table reads best with one endpoint a line
export const models = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/models', summary: 'List the models of the catalog', operation: 'listModels', reply: listOf(model) },
  check: { route: 'POST /api/v1/models/:ref/check', summary: 'Try a model', operation: 'checkModel', body: modelCheckRequest, bodyIsOptional: true, reply: modelCheck, ...check },
});

/** MCP servers, which are started as a run would start them. */
// biome-ignore format: a table reads best with one endpoint a line
export const mcpServers = endpoints('admin', 'envelope', {
  check: { route: 'POST /api/v1/mcp-servers/:ref/check', summary: 'Try an MCP server', operation: 'checkMcpServer', reply: mcpServerCheck, ...check },
});
