// Bundles the program: every module and library in a few files that lie where they lie in `dist/`, workers included.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isBuiltin } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { bundleForBrowsers } from './browser.ts';
import { leanHttpClient, oneMediaTypeTable, requiredModules } from './lean-libraries.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Files that Node.js itself starts: the program and its workers. */
const ENTRIES = ['src/main.ts', 'src/agent/worker.ts', 'src/**/*-worker.ts'];

/** Stay packages of their own, because they contain native code. */
export const NATIVE = ['better-sqlite3', '@node-rs/argon2'];

/** Optional parts of libraries that Errand doesn't use. */
const ABSENT = ['@napi-rs/nice', 'react-devtools-core', 'chromium-bidi', 'pino-pretty'];

/** Large libraries that are loaded late, and can stay packages of their own. Most of the time that bundling takes is theirs. */
const LARGE = ['playwright-core', 'unpdf', 'mammoth', 'jschardet'];

/** What CommonJS modules find, and `errandDist`: the address of `dist/`, whatever file the code ends up in. */
const BANNER = `import { createRequire as errandRequire } from 'node:module';
const require = errandRequire(import.meta.url);
const errandDist = import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/') + 6);`;

/** A module of ours keeps its address in \`dist/\`, from which it finds workers and files. */
const ownAddresses: Plugin = {
  name: 'own-addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.tsx?$/ }, ({ path: file }) => {
      const place = path.relative(path.join(ROOT, 'src'), file).replace(/\.tsx?$/, '.js');
      const text = readFileSync(file, 'utf8')
        // A \`require\` of ours is the bundler's, which takes in what it names.
        .replaceAll(/^const require = createRequire\(import\.meta\.url\);$/gm, '')
        .replaceAll('import.meta.url', `(errandDist + ${JSON.stringify(place)})`);
      return { contents: text, loader: 'ts' };
    });
  },
};

/** The pool starts its threads with a file of its own. */
const poolThreads: Plugin = {
  name: 'pool-threads',
  setup({ onLoad }) {
    onLoad({ filter: /\/piscina\/dist\/index\.js$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      const own = "(0, node_path_1.resolve)(__dirname, 'worker.js')";
      if (!text.includes(own)) throw new Error(`piscina no longer starts ${own}: see scripts/package/bundle.ts.`);
      return {
        contents: text.replace(own, `require('node:url').fileURLToPath(errandDist + 'pool-worker.cjs')`),
        loader: 'js',
      };
    });
  },
};

/** Files that the browser's library reads in the folder of its package. */
export const READ_BY_PLAYWRIGHT = ['package.json', 'browsers.json', 'lib/webp_codec.wasm'];

/** They lie in the package that `tree.ts` leaves of it. */
const playwrightFolder: Plugin = {
  name: 'playwright-folder',
  setup({ onLoad }) {
    onLoad({ filter: /\/playwright-core\/lib\/coreBundle\.js$/ }, ({ path: file }) => {
      const folder = `require('node:url').fileURLToPath(errandDist + '../node_modules/playwright-core/lib')`;
      return { contents: readFileSync(file, 'utf8').replaceAll(/\b__dirname\b/g, folder), loader: 'js' };
    });
  },
};

/**
 * A CommonJS package that is imported when it is needed: the bundler would give it no export but `default`. Its names are
 * those that Node.js finds in it.
 */
const namedExports: Plugin = {
  name: 'named-exports',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path: name, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === namedExports || isBuiltin(name)) return undefined;
      const found = await resolve(name, { kind, resolveDir, pluginData: namedExports });
      if (found.external || found.errors.length > 0) return undefined;
      const exports = Object.keys((await import(pathToFileURL(found.path).href)) as object);
      if (!exports.includes('module.exports')) return undefined;
      const names = exports.filter((name) => name !== 'default' && /^[A-Za-z_$][\w$]*$/.test(name));
      // It gets into the bundle, which is the same from every checkout.
      return { path: path.relative(ROOT, found.path), namespace: 'named', pluginData: names };
    });
    onLoad({ filter: /./, namespace: 'named' }, ({ path: place, pluginData }) => {
      const names = pluginData as readonly string[];
      const file = path.join(ROOT, place);
      const from = JSON.stringify(file);
      const contents = `import whole from ${from};\nexport default whole;\nexport const { ${names.join(', ')} } = whole;`;
      return { contents, loader: 'js', resolveDir: path.dirname(file) };
    });
  },
};

const SHARED: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  // `config.ts` sets the variable for a program that is not bundled.
  logOverride: { 'assign-to-define': 'silent' },
  external: [...NATIVE, ...ABSENT],
  define: { 'process.env.NODE_ENV': '"production"' },
};

/** What a bundle was made of, and its files: paths from the checkout, and paths from the directory. */
export interface Bundle {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/**
 * Writes \`dist/\` below a directory. \`isWhole\`: with the large libraries, and small. Otherwise it can be read, takes a fifth of
 * the time, and needs \`node_modules/\` beside it.
 */
export async function bundle(directory: string, isWhole: boolean): Promise<Bundle> {
  const outdir = path.join(directory, 'dist');
  const readable = { external: [...SHARED.external!, ...LARGE], minifyWhitespace: false, minifySyntax: false };
  const program = await build({
    ...SHARED,
    ...(!isWhole && readable),
    entryPoints: globSync(ENTRIES, { cwd: ROOT }).sort(),
    outbase: 'src',
    outdir,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER },
    plugins: [
      ownAddresses,
      poolThreads,
      playwrightFolder,
      leanHttpClient,
      oneMediaTypeTable,
      requiredModules,
      namedExports,
    ],
  });
  const thread = await build({
    ...SHARED,
    entryPoints: ['node_modules/piscina/dist/worker.js'],
    outfile: path.join(outdir, 'pool-worker.cjs'),
    format: 'cjs',
  });
  const made = [program.metafile!, thread.metafile!, await bundleForBrowsers(outdir)];
  return {
    inputs: made.flatMap(({ inputs }) => Object.keys(inputs)),
    outputs: made.flatMap(({ outputs }) =>
      Object.keys(outputs).map((file) => path.relative(directory, path.join(ROOT, file))),
    ),
  };
}
