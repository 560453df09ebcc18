// Compiles src/ to dist/, and copies what the daemon sends as it is. Does nothing when there is no compiler (an install without development packages).
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = `${root}node_modules/.bin/tsc`;

const COPIED = ['http/share/static'];

if (existsSync(compiler)) {
  const { status } = spawnSync(compiler, ['-p', `${root}tsconfig.json`], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
  for (const folder of COPIED) cpSync(`${root}src/${folder}`, `${root}dist/${folder}`, { recursive: true });
} else if (!existsSync(`${root}dist/main.js`)) {
  console.error('errand: dist/ can’t be built without the compiler. Run: npm install --include=dev');
  process.exitCode = 1;
}
