// Before the first test of a run: its processes and threads share the code that they have compiled. Answers what removes it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function setup(): (() => void) | undefined {
  if (process.env['NODE_COMPILE_CACHE'] !== undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'errand-code-'));
  process.env['NODE_COMPILE_CACHE'] = directory;
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
