// Bundles what a browser runs at /office: one module and one stylesheet. Whatever needs Node.js fails here.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Writes `browser/` below a directory. */
export async function bundleForBrowsers(outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/browser/office.ts', 'src/browser/office.css'],
    outdir: path.join(outdir, 'browser'),
    bundle: true,
    // Modules of Node.js can't be resolved for it.
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    charset: 'utf8',
    metafile: true,
    logLevel: 'warning',
    tsconfigRaw: {},
  });
  return metafile;
}
