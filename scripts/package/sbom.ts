// Lists what is in a package, as a CycloneDX 1.6 document.
import type { Component } from './components.ts';
import { type Embedded, embeddedIn } from './embedded.ts';

export interface Product {
  readonly version: string;
  /** Epoch ms of the commit. */
  readonly madeAt: number;
}

interface Described {
  readonly ref: string;
  readonly component: object;
}

/** The document as text; the same for the same components. */
export function renderSbom(components: readonly Component[], { version, madeAt }: Product): string {
  const described = new Map(components.map((component) => [component.place, describe(component)]));
  const product = { type: 'application', 'bom-ref': `errand@${version}`, name: 'errand', version };
  const embedded = embeddedIn(components).map((library) => ({ within: library.within, ...describeEmbedded(library) }));
  const dependencies = components.map(({ place, uses }) => ({
    ref: described.get(place)!.ref,
    dependsOn: [
      ...uses.map((use) => described.get(use)!.ref),
      ...embedded.filter(({ within }) => within === place).map(({ ref }) => ref),
    ].sort(),
  }));
  const used = new Set(components.flatMap(({ uses }) => uses));
  const direct = components.filter(({ place }) => !used.has(place)).map(({ place }) => described.get(place)!.ref);
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(madeAt).toISOString(),
      component: { ...product, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components: [...described.values(), ...embedded].map(({ component }) => component),
    dependencies: [
      { ref: product['bom-ref'], dependsOn: direct.sort() },
      ...dependencies,
      ...embedded.map(({ ref }) => ({ ref })),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function describe({ place, name, version, license, sha512 }: Component): Described {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  // A package can be in several places.
  const ref = place === `node_modules/${name}` ? purl : `${purl}#${place}`;
  const component = {
    type: name.startsWith('node-linux-') ? 'platform' : 'library',
    'bom-ref': ref,
    name,
    version,
    hashes: [{ alg: 'SHA-512', content: sha512 }],
    ...(license !== undefined && { licenses: [licenseOf(license)] }),
    purl,
  };
  return { ref, component };
}

/** Without a hash: it is part of the package that contains it. */
function describeEmbedded({ name, version, license, within }: Embedded): Described {
  const purl = `pkg:generic/${name}@${version}`;
  const ref = `${purl}#${within}`;
  const licenses = license === undefined ? {} : { licenses: [licenseOf(license)] };
  return { ref, component: { type: 'library', 'bom-ref': ref, name, version, ...licenses, purl } };
}

function licenseOf(license: string): object {
  if (/^[\w.+-]+$/.test(license)) return { license: { id: license } };
  return / (?:OR|AND|WITH) /.test(license) ? { expression: license } : { license: { name: license } };
}
