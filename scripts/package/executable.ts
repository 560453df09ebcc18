// Makes one executable of Node.js and the tree of the program.
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, zstdCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import type { PackedFile } from './boot/contents.ts';
import { runTool } from './run-tool.ts';
import { filesBelow, type Tree } from './tree.ts';

/** What Node.js looks for in itself; see its documentation of single executable applications. */
const SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const LEVEL = 19;

/** Writes the executable to `file`. `node`: the program of Node.js for its architecture, of this very version. */
export async function makeExecutable({ directory }: Tree, node: string, file: string): Promise<void> {
  const work = mkdtempSync(`${file}.work-`);
  const at = (name: string) => path.join(work, name);
  try {
    const { list, files } = packed(directory);
    writeFileSync(at('list'), list);
    writeFileSync(at('files'), files);
    await build({
      absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
      entryPoints: [fileURLToPath(new URL('boot/main.ts', import.meta.url))],
      outfile: at('boot.cjs'),
      bundle: true,
      platform: 'node',
      target: 'node24',
      format: 'cjs',
      minifyWhitespace: true,
      logLevel: 'warning',
    });
    // A snapshot or compiled code would be of one architecture.
    // Starting a module from a script is an experimental feature of Node.js. For the heap, see `bin/errand`.
    const execArgv = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=4', '--max-old-space-size=1024'];
    const config = { main: 'boot.cjs', output: 'blob', disableExperimentalSEAWarning: true, execArgv };
    const assets = { list: 'list', files: 'files' };
    writeFileSync(at('config.json'), JSON.stringify({ ...config, useSnapshot: false, useCodeCache: false, assets }));
    await runTool(process.execPath, ['--experimental-sea-config', 'config.json'], { cwd: work });
    copyFileSync(node, at('errand'));
    chmodSync(at('errand'), 0o755);
    await runTool('postject', ['errand', 'NODE_SEA_BLOB', 'blob', '--sentinel-fuse', SENTINEL], { cwd: work });
    copyFileSync(at('errand'), file);
    chmodSync(file, 0o755);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** All files of the tree in one, compressed, and the list of them. */
function packed(directory: string): { readonly list: string; readonly files: Buffer } {
  const names = filesBelow(directory, '**/*').filter((name) => statSync(path.join(directory, name)).isFile());
  const contents = names.map((name) => readFileSync(path.join(directory, name)));
  const files = names.map((name, index): PackedFile => {
    const bytes = contents[index]!;
    const mode = name.endsWith('.node') ? 0o700 : 0o600;
    return { path: name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), mode };
  });
  const id = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const params = { [constants.ZSTD_c_compressionLevel]: LEVEL };
  return { list: JSON.stringify({ id, files }), files: zstdCompressSync(Buffer.concat(contents), { params }) };
}
