// Leaves out of libraries, as they are bundled, what Errand doesn't use and every thread would pay for.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

const LEFT_OUT = /^\.\/lib\/(mock|cache|interceptor|web\/(cache|cookies|websocket|eventsource))\//;

/** Whatever is taken from it is it again; only a call fails. The library makes one object of a class that is left out. */
const ABSENT = `
const absent = new Proxy(function () {}, {
  get: () => absent,
  construct: () => absent,
  apply() { throw new Error('left out of the bundle: see scripts/package/lean-libraries.ts'); },
});
module.exports = absent;`;

/** The HTTP client without mocks, caches, cookies and sockets of the web: half of the time and memory that loading it takes. */
export const leanHttpClient: Plugin = {
  name: 'lean-http-client',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: LEFT_OUT }, ({ path, importer }) =>
      importer.endsWith('/undici/index.js') ? { path, namespace: 'absent', sideEffects: false } : undefined,
    );
    onLoad({ filter: /./, namespace: 'absent' }, () => ({ contents: ABSENT, loader: 'js' }));
  },
};

/**
 * Node.js evaluates each export of its modules that are imported: with `http` it loads a second HTTP client, with `tls` all root
 * certificates. Required, they are loaded alone.
 */
export const requiredModules: Plugin = {
  name: 'required-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?(http|tls)$/ }, ({ path, namespace }) =>
      namespace === 'required'
        ? { path, external: true }
        : { path: `node:${path.replace('node:', '')}`, namespace: 'required' },
    );
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};

interface MediaType {
  readonly extensions?: readonly string[];
  readonly charset?: string;
}

/** The table of media types: once, for all libraries; only those with extensions or a charset, as text that is quick to parse. */
export const oneMediaTypeTable: Plugin = {
  name: 'one-media-type-table',
  setup({ onResolve, onLoad }) {
    const table = createRequire(import.meta.url).resolve('mime-db/db.json');
    onResolve({ filter: /^mime-db$/ }, () => ({ path: table }));
    onLoad({ filter: /\/mime-db\/db\.json$/ }, () => {
      const all = Object.entries(JSON.parse(readFileSync(table, 'utf8')) as Record<string, MediaType>);
      const used = all.filter(([, { extensions, charset }]) => extensions !== undefined || charset !== undefined);
      const text = JSON.stringify(JSON.stringify(Object.fromEntries(used)));
      return { contents: `module.exports = JSON.parse(${text});`, loader: 'js' };
    });
  },
};
