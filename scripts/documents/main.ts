// Looks for paths in the documents that the repository doesn't have: `npm run check:documents`. Ends with 1 when it finds one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findMissingPaths } from './missing-paths.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 16 * 1024 * 1024,
}).split('\n');

const documents = files.filter((file) => file === 'docs/ARCHITECTURE.md' || file.startsWith('docs/DECISIONS/'));
for (const document of documents) {
  for (const { line, path } of findMissingPaths(document, readFileSync(`${root}${document}`, 'utf8'), files)) {
    process.stderr.write(`${document}:${line}: there is no ${path}\n`);
    process.exitCode = 1;
  }
}
