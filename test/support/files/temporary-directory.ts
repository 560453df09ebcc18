// A directory of its own for one test, removed when the test ends.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** The test that something belongs to. Tests that run at the same time give their own. */
export interface Of {
  onTestFinished(end: () => void | Promise<void>): void;
}

/** Makes a directory with the given files, by their relative paths. */
export function temporaryDirectory(
  files: Readonly<Record<string, string | Buffer>> = {},
  of: Of = { onTestFinished },
): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'errand-'));
  of.onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return directory;
}
