// Asks an MCP server for its tools, page by page, and takes no more than a run can use.
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { MB } from '../../domain/byte-units.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import type { ResultCheck } from '../result/result-schema.ts';
import type { UnusableTool } from '../port/protocol.ts';
import { McpFailure } from './failure.ts';
import { readToolSchema } from './tool-schema.ts';

/** Limits for one server: tools, those that are left out by name, and bytes of schemas. */
const MAX_TOOLS = 200;
const MAX_LEFT_OUT = 200;
const MAX_SCHEMA_BYTES = MB;
const MAX_PAGES = 64;
const MAX_DESCRIPTION_CHARACTERS = 8_192;
const MAX_NAME_CHARACTERS = 256;
const SHOWN_NAME_CHARACTERS = 40;

/** A tool as its server offers it. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly check: ResultCheck;
}

export interface ListedTools {
  readonly tools: readonly ServerTool[];
  /** The tools that were left out, by name, and why. */
  readonly leftOut: readonly UnusableTool[];
  /** How many more were left out: too many to name. */
  readonly surplus: number;
  /** Names that the grant asks for and the server does not have. */
  readonly missing: readonly string[];
}

/** Accepts any reply: one malformed tool must not cost all others. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'errand', validate: (value: unknown) => ({ value: value as JsonValue }) },
} as const;

/** The tools of a server that `wanted` names; null means all. Throws McpFailure or an error of the SDK. */
export async function listTools(
  client: Client,
  wanted: readonly string[] | null,
  options: RequestOptions,
): Promise<ListedTools> {
  const listing = makeListing(wanted);
  if (client.getServerCapabilities()?.tools === undefined) return listing.end();
  let cursor: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, ANYTHING, options);
    if (!isJsonObject(answer) || !Array.isArray(answer['tools']))
      throw new McpFailure('sent a list of tools that violates the protocol');
    for (const tool of answer['tools']) listing.take(tool);
    const next = answer['nextCursor'];
    if (typeof next !== 'string' || next === cursor) return listing.end();
    cursor = next;
  }
  return listing.end();
}

/** Why a tool is left out that can't be called directly. */
const TASK_ONLY = { ok: false, why: 'it can only be called as a task, which Errand does not support' } as const;

const TOO_MANY = `the server lists more than ${MAX_TOOLS} tools`;
const TOO_LARGE = `with it, the schemas of the server's tools are larger than ${MAX_SCHEMA_BYTES / MB} MB`;

/** Whether a server refuses plain calls of a tool: `execution.taskSupport`, of MCP 2025-11-25. */
function needsTask({ execution }: JsonObject): boolean {
  return isJsonObject(execution) && execution['taskSupport'] === 'required';
}

function makeListing(wanted: readonly string[] | null) {
  const tools = new Map<string, ServerTool>();
  const leftOut: UnusableTool[] = [];
  let schemaBytes = 0;
  let surplus = 0;
  const leave = (name: string, why: string): void => {
    if (leftOut.length < MAX_LEFT_OUT) leftOut.push({ name, why });
    else surplus += 1;
  };
  const take = (value: JsonValue): void => {
    if (!isJsonObject(value)) return wanted === null ? leave('', 'it is not an object') : undefined;
    const { name, description } = value;
    if (typeof name !== 'string' || name === '') return wanted === null ? leave('', 'it has no name') : undefined;
    if (wanted !== null && !wanted.includes(name)) return;
    if (name.length > MAX_NAME_CHARACTERS)
      return leave(
        `${name.slice(0, SHOWN_NAME_CHARACTERS)}…`,
        `its name is longer than ${MAX_NAME_CHARACTERS} characters`,
      );
    if (tools.has(name)) return leave(name, 'an earlier one has its name');
    if (tools.size >= MAX_TOOLS) return leave(name, TOO_MANY);
    const schema = needsTask(value) ? TASK_ONLY : readToolSchema(value['inputSchema']);
    if (!schema.ok) return leave(name, schema.why);
    schemaBytes += JSON.stringify(schema.modelSchema).length;
    if (schemaBytes > MAX_SCHEMA_BYTES) return leave(name, TOO_LARGE);
    const words = typeof description === 'string' ? description : '';
    tools.set(name, {
      name,
      description: words.slice(0, MAX_DESCRIPTION_CHARACTERS).toWellFormed(),
      inputSchema: schema.modelSchema,
      check: schema.check,
    });
  };
  const end = (): ListedTools => {
    const known = new Set([...tools.keys(), ...leftOut.map(({ name }) => name)]);
    const missing = surplus > 0 ? [] : (wanted ?? []).filter((name) => !known.has(name));
    return { tools: [...tools.values()], leftOut, surplus, missing };
  };
  return { take, end };
}
