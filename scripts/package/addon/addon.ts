// Compiles the addon of the database for old systems: the one that comes with its package requires glibc 2.34.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTool } from '../run-tool.ts';
import type { Target } from '../targets.ts';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const SOURCES = path.join(MODULES, 'better-sqlite3');
const CACHE = path.join(MODULES, '.cache/errand-package');

/** As the addon's own build has them (`binding.gyp`, and what node-gyp adds). */
const EVERY = '-O3 -DNDEBUG -fPIC -pthread -D_FILE_OFFSET_BITS=64 -D_LARGEFILE_SOURCE -w'.split(' ');
const OF_SQLITE = ['-std=c99'];
const OF_ADDON = [
  ...'-std=c++20 -fno-rtti -fno-exceptions -fvisibility=hidden -fvisibility-inlines-hidden'.split(' '),
  ...'-DBUILDING_NODE_EXTENSION -DNODE_GYP_MODULE_NAME=better_sqlite3 -DNAPI_VERSION=10'.split(' '),
  ...'-DNAPI_DISABLE_CPP_EXCEPTIONS -DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS'.split(' '),
];
const OF_LINK = [
  ...'-shared -pthread -s -Wl,-soname,better_sqlite3.node -Wl,-Bsymbolic -Wl,--exclude-libs,ALL'.split(' '),
  ...'-Wl,--wrap=stat64,--wrap=lstat64,--wrap=fstat64 -Wl,--build-id=none'.split(' '),
];

/**
 * The file of the addon, compiled at the first call and kept for the next ones. Null when there is no compiler for the target.
 */
export async function compiledAddon({ architecture, compilers }: Target): Promise<string | null> {
  const [c, cxx] = [`${compilers}gcc`, `${compilers}g++`];
  const versions = await Promise.all([c, cxx].map((compiler) => runTool(compiler, ['--version']).catch(() => null)));
  if (versions.includes(null)) return null;
  const folder = path.join(CACHE, `${architecture}-${keyOf(versions as string[])}`);
  const file = path.join(folder, 'better_sqlite3.node');
  if (!existsSync(file)) await compile(c, cxx, folder);
  return file;
}

/** Another one for other sources, other flags and other compilers. */
function keyOf(versions: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([versions, EVERY, OF_SQLITE, OF_ADDON, OF_LINK]));
  const files = globSync(['src/**/*.*pp', 'deps/**/*.{c,h,gypi}'], { cwd: SOURCES }).sort();
  for (const file of files) hash.update(readFileSync(path.join(SOURCES, file)));
  for (const file of ['floor.h', 'floor.c']) hash.update(readFileSync(path.join(HERE, file)));
  return hash.digest('hex').slice(0, 16);
}

async function compile(c: string, cxx: string, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(path.join(CACHE, 'compiling-'));
  const options = { cwd: work };
  // What a compiler says of its files is the same in every checkout.
  const locations = [`-ffile-prefix-map=${MODULES}=node_modules`, `-ffile-prefix-map=${HERE}=addon/`];
  const floor = [...locations, '-include', path.join(HERE, 'floor.h'), `-I${SOURCES}/deps/sqlite3`];
  const headers = [`-I${MODULES}/node-addon-api`, `-I${headersOfNode()}`];
  try {
    await Promise.all([
      runTool(c, ['-c', ...EVERY, ...OF_SQLITE, ...definesOfSqlite(), ...floor, sqlite(), '-o', 'sqlite.o'], options),
      runTool(cxx, ['-c', ...EVERY, ...OF_ADDON, ...floor, ...headers, main(), '-o', 'addon.o'], options),
      runTool(c, ['-c', '-O2', '-fPIC', ...locations, path.join(HERE, 'floor.c'), '-o', 'floor.o'], options),
    ]);
    const objects = ['addon.o', 'sqlite.o', 'floor.o'];
    await runTool(cxx, [...OF_LINK, '-o', 'better_sqlite3.node', ...objects, '-ldl'], options);
    for (const object of objects) rmSync(path.join(work, object));
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const sqlite = () => path.join(SOURCES, 'deps/sqlite3/sqlite3.c');
const main = () => path.join(SOURCES, 'src/better_sqlite3.cpp');

/** The same for both architectures. */
function headersOfNode(): string {
  const [found] = globSync('node-linux-*/include/node', { cwd: MODULES });
  if (found === undefined) throw new Error('node_modules has no headers of Node.js: run npm install.');
  return path.join(MODULES, found);
}

function definesOfSqlite(): readonly string[] {
  const list = readFileSync(path.join(SOURCES, 'deps/defines.gypi'), 'utf8');
  return [...list.matchAll(/'([A-Z][A-Z0-9_]*(?:=[\w-]+)?)'/g)].map(([, define]) => `-D${define}`);
}
