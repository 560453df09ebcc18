// Bundles src/ to dist/, with what the daemon sends as it is and the description of the interface. Does nothing when there is no bundler (an install without development packages).
import { cpSync, existsSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const COPIED = ['http/share/static'];

if (existsSync(`${root}node_modules/esbuild`)) {
  const { bundle } = await import('./package/bundle.ts');
  const { describeInterface } = await import('./openapi/describe.ts');
  const { outputs } = await bundle(root, false);
  writeFileSync(`${root}dist/openapi.json`, describeInterface());
  for (const folder of COPIED) cpSync(`${root}src/${folder}`, `${root}dist/${folder}`, { recursive: true });
  const made = new Set([...outputs, 'dist/openapi.json']);
  const isCopied = (file) => COPIED.some((folder) => file.startsWith(`dist/${folder}/`));
  // Only now: until here, an earlier build could still be running from it.
  for (const file of globSync('dist/**/*.*', { cwd: root })) {
    if (!made.has(file) && !isCopied(file)) rmSync(`${root}${file}`, { recursive: true, force: true });
  }
} else if (!existsSync(`${root}dist/main.js`)) {
  console.error('errand: dist/ can’t be built without the bundler. Run: npm install --include=dev');
  process.exitCode = 1;
}
