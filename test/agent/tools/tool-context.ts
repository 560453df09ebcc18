// A workspace for one test, next to a file outside that no tool may ever reach.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutedTool, ToolContext } from '../../../src/agent/port/tool.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { bareContext } from '../../support/agent/bare-context.ts';

export interface TestWorkspace {
  readonly path: string;
  /** A file next to the workspace; its content is `SECRET`. */
  readonly secret: string;
  readonly context: ToolContext;
  run(tool: ExecutedTool, input: JsonObject): ReturnType<ExecutedTool['execute']>;
}

export const SECRET = 'not for agents\n';

export function makeWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  changes: Partial<ToolContext> = {},
): TestWorkspace {
  const base = temporaryDirectory();
  const path = join(base, 'workspace');
  const secret = join(base, 'secret');
  mkdirSync(path);
  writeFileSync(secret, SECRET);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  const context: ToolContext = { ...bareContext(path), ...changes };
  return { path, secret, context, run: (tool, input) => tool.execute(input, context) };
}
