// The libraries that are compiled into the native packages, which no lock file names.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Component } from './components.ts';

const SQLITE = fileURLToPath(new URL('../../node_modules/better-sqlite3/deps/sqlite3', import.meta.url));

export interface Embedded {
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier; undefined when its package's licence file names it. */
  readonly license: string | undefined;
  /** The place of the package that contains it. */
  readonly within: string;
}

/** By the names that Node.js has for them. What it lists besides has no version of its own, or is a version of an interface. */
const OF_NODE: Readonly<Record<string, readonly [name: string, license: string]>> = {
  acorn: ['acorn', 'MIT'],
  ada: ['ada-url', 'MIT'],
  amaro: ['amaro', 'MIT'],
  ares: ['c-ares', 'MIT'],
  brotli: ['brotli', 'MIT'],
  icu: ['icu', 'Unicode-3.0'],
  llhttp: ['llhttp', 'MIT'],
  nghttp2: ['nghttp2', 'MIT'],
  openssl: ['openssl', 'Apache-2.0'],
  simdjson: ['simdjson', 'Apache-2.0'],
  simdutf: ['simdutf', 'MIT'],
  sqlite: ['sqlite', 'blessing'],
  undici: ['undici', 'MIT'],
  uv: ['libuv', 'MIT'],
  v8: ['v8', 'BSD-3-Clause'],
  zlib: ['zlib', 'Zlib'],
  zstd: ['zstd', 'BSD-3-Clause'],
};

/** Those of the components. Throws when this is not the Node.js that is packed, since only it knows its libraries. */
export function embeddedIn(components: readonly Component[]): readonly Embedded[] {
  return components.flatMap(({ place, name, version }) => {
    if (name === 'better-sqlite3')
      return [{ name: 'sqlite', version: sqliteVersion(), license: 'blessing', within: place }];
    if (!name.startsWith('node-linux-')) return [];
    if (process.versions.node !== version) throw new Error(`Node.js ${version} is packed: run this with that version.`);
    return Object.entries(OF_NODE).flatMap(([key, [library, license]]) => {
      const found = process.versions[key];
      return found ? [{ name: library, version: found, license, within: place }] : [];
    });
  });
}

function sqliteVersion(): string {
  const [, version] = /^#define SQLITE_VERSION\s+"([\d.]+)"/m.exec(
    readFileSync(path.join(SQLITE, 'sqlite3.h'), 'utf8'),
  )!;
  return version!;
}
