// The JSON text of a tool's definition, written once: built-in tools are the same in all runs.
import type { JsonObject } from '../../domain/json.ts';
import type { ToolDefinition } from '../../domain/sessions/run-setup.ts';
import type { ModelTool } from '../models/message.ts';

/** By their schemas. Tools that share one are written again each time. */
const written = new WeakMap<JsonObject, { readonly of: ModelTool; readonly text: string }>();

/** The definition as JSON. The tool's schema must not be changed afterwards. */
export function definitionText({ name, description, inputSchema: schema }: ModelTool): string {
  const known = written.get(schema);
  if (known?.of.name === name && known.of.description === description) return known.text;
  const text = JSON.stringify({ name, description, schema } satisfies ToolDefinition);
  written.set(schema, { of: { name, description, inputSchema: schema }, text });
  return text;
}
