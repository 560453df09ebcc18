// The packages that are in a tree, as the lock file has them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NATIVE } from './bundle.ts';
import type { Target } from './targets.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface LockEntry {
  readonly version: string;
  readonly license?: string;
  readonly integrity: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Component {
  /** Its place in the lock file, such as `node_modules/ajv`. */
  readonly place: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier or expression; undefined when the package names none. */
  readonly license: string | undefined;
  /** In hexadecimal, of the archive in the registry. */
  readonly sha512: string;
  /** Locations of the components that it uses. */
  readonly uses: readonly string[];
}

/** Sorted by place. `inputs`: the files that the bundler has taken in, such as `node_modules/ajv/dist/ajv.js`. */
export function componentsOf(inputs: readonly string[], { architecture }: Target): readonly Component[] {
  const native = [
    ...NATIVE,
    `@node-rs/argon2-linux-${architecture}-gnu`,
    `node-linux-${architecture}`,
    'playwright-core',
  ];
  const locations = new Set(native.map((name) => `node_modules/${name}`));
  // Others are made by the bundler.
  for (const input of inputs.filter((input) => input.startsWith('node_modules/'))) {
    const place = placeOf(input);
    if (place !== undefined) locations.add(place);
  }
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>;
  };
  return [...locations].sort().map((place) => {
    const entry = lock.packages[place];
    if (entry === undefined) throw new Error(`package-lock.json has no ${place}.`);
    const wanted = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
    return {
      place,
      name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version,
      license: entry.license,
      sha512: Buffer.from(entry.integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
      uses: wanted.map((name) => found(name, place, locations)).filter((use) => use !== undefined),
    };
  });
}

/** The place of the package that a file belongs to; undefined for one of ours. */
function placeOf(file: string): string | undefined {
  return /^((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
}

/** Where a package that is at a place finds another one: the way up that Node.js takes. */
function found(name: string, from: string, locations: ReadonlySet<string>): string | undefined {
  for (let base = from; base !== ''; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    if (locations.has(`${base}/node_modules/${name}`)) return `${base}/node_modules/${name}`;
  }
  return locations.has(`node_modules/${name}`) ? `node_modules/${name}` : undefined;
}
