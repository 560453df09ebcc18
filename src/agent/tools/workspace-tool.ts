// What all tools share: how a path of the model is read, and how refusals become results.
import { ErrandError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ToolResult } from '../port/protocol.ts';
import { shortageFor } from '../sandbox/workspace-room.ts';
import type { ExecutedTool, ToolContext } from '../port/tool.ts';

/** Where commands in the sandbox see the workspace. */
const WORKSPACE_MOUNT = '/workspace';

/** A path as models write it. `/a`, `a`, `./a` and `/workspace/a` (as the shell sees it) all name the workspace's `a`. */
export function workspacePath(path: string): string {
  if (path === WORKSPACE_MOUNT) return '';
  return path.startsWith(`${WORKSPACE_MOUNT}/`) ? path.slice(WORKSPACE_MOUNT.length) : path;
}

export function succeeded(output: string): ToolResult {
  return { ok: true, output };
}

export function failed(output: string): ToolResult {
  return { ok: false, output };
}

/** Throws when the workspace has no room for some bytes. */
export async function requireRoom(bytes: number, { workspace, space }: ToolContext): Promise<void> {
  const shortage = await shortageFor(bytes, workspace, space);
  if (shortage !== null) throw new ErrandError('unavailable', `Nothing was written: ${shortage}.`);
}

/** A text of a tool's input; `''` when absent. */
export function textOf(input: JsonObject, name: string): string {
  const value = input[name];
  return typeof value === 'string' ? value : '';
}

/** A tool whose expected refusals (`ErrandError`) become results that the model reads. Bugs still throw. */
export function defineTool(tool: Omit<ExecutedTool, 'kind'>): ExecutedTool {
  return {
    kind: 'executes',
    ...tool,
    async execute(input, context) {
      try {
        return await tool.execute(input, context);
      } catch (error) {
        if (error instanceof ErrandError) return failed(error.message);
        throw error;
      }
    },
  };
}

/** The JSON Schema of a tool's input: an object with these properties and no others. */
export function inputOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** A file's name on one line: control characters are escaped. */
export function printableName(name: string): string {
  return name.replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
