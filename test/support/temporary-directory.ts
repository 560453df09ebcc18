// A directory of its own for one test, removed when the test ends.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes a directory that holds the given files, by their relative paths. */
export function temporaryDirectory(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'errand-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return directory;
}
