// Compiles src/ to dist/. Does nothing when there is no compiler (an install without development packages).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = `${root}node_modules/.bin/tsc`;

if (existsSync(compiler)) {
  const { status } = spawnSync(compiler, ['-p', `${root}tsconfig.json`], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else if (!existsSync(`${root}dist/main.js`)) {
  console.error('errand: dist/ can’t be built without the compiler. Run: npm install --include=dev');
  process.exitCode = 1;
}
