// Models, and how models and MCP servers answered when they were checked.
import { array, object } from '../composites.ts';
import { boolean, integer, number, oneOf, string } from '../scalars.ts';
import { named, nullable, nullish, type Static } from '../shape.ts';

/** A model of models.yaml. */
export const model = named(
  'Model',
  object({
    name: string,
    endpoint: string,
    kind: string,
    model: string,
    context_window: integer({ from: 0 }),
    max_output_tokens: integer({ from: 0 }),
    images: boolean,
    scenarios: array(string),
    default: boolean,
  }),
);
export type ModelWire = Static<typeof model>;

/** One aspect that a check examined. */
export const finding = named(
  'Finding',
  object({ check: string, state: oneOf(['ok', 'warning', 'failed', 'skipped']), detail: string }),
);
export type FindingWire = Static<typeof finding>;

/** `context`: whether the context window is filled, too; it is when nothing is said. */
export const modelCheckWish = named('ModelCheckWish', object({ context: nullish(boolean) }));
export type ModelCheckWishWire = Static<typeof modelCheckWish>;

const duration = integer({ from: 0 });

/** How a model answered. */
export const modelCheck = named(
  'ModelCheck',
  object({
    name: string,
    endpoint: string,
    kind: string,
    model: string,
    ok: boolean,
    findings: array(finding),
    first_token_ms: nullable(number({ from: 0 })),
    tokens_per_second: nullable(number({ from: 0 })),
    duration_ms: duration,
  }),
);
export type ModelCheckWire = Static<typeof modelCheck>;

/** How an MCP server answered. */
export const mcpServerCheck = named(
  'McpServerCheck',
  object({
    id: nullable(integer()),
    name: string,
    server_name: string,
    ok: boolean,
    findings: array(finding),
    tools: array(object({ name: string, description: string })),
    start_ms: nullable(number({ from: 0 })),
    list_ms: nullable(number({ from: 0 })),
    stderr: string,
    duration_ms: duration,
  }),
);
export type McpServerCheckWire = Static<typeof mcpServerCheck>;
