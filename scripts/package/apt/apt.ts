// Lays out Debian packages as a repository of apt.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { runTool } from '../run-tool.ts';
import type { Signer } from '../signing.ts';
import { filesBelow } from '../tree.ts';

const POOL = 'pool/main/e/errand';
const SUITE = 'stable';
/** What apt is given to trust. */
export const PUBLIC_KEY = 'errand-archive-keyring.asc';

export interface Repository {
  readonly directory: string;
  /** Seconds since 1970. */
  readonly epoch: number;
  readonly signer: Signer;
}

/** Adds packages to a repository, or begins one. Packages that are there stay, so that older versions can be had. */
export async function addToRepository(
  debs: readonly string[],
  { directory, epoch, signer }: Repository,
): Promise<void> {
  const at = (...parts: readonly string[]) => path.join(directory, ...parts);
  mkdirSync(at(POOL), { recursive: true });
  for (const deb of debs) copyFileSync(deb, at(POOL, path.basename(deb)));
  const stanzas = new Map<string, string[]>();
  for (const name of filesBelow(at(POOL), '*.deb')) {
    const control = await runTool('dpkg-deb', ['--field', at(POOL, name)]);
    const [, architecture] = /^Architecture: (.*)$/m.exec(control)!;
    const own = stanzas.get(architecture!) ?? [];
    stanzas.set(architecture!, [...own, stanzaOf(control, `${POOL}/${name}`, readFileSync(at(POOL, name)))]);
  }
  const lists = [...stanzas].flatMap(([architecture, texts]) => {
    const name = `main/binary-${architecture}/Packages`;
    const text = Buffer.from(texts.join('\n'));
    return [
      { name, bytes: text },
      { name: `${name}.gz`, bytes: gzipSync(text, { level: 9 }) },
    ];
  });
  for (const { name, bytes } of lists) {
    mkdirSync(path.dirname(at('dists', SUITE, name)), { recursive: true });
    writeFileSync(at('dists', SUITE, name), bytes);
  }
  await signer.exportKey(at(PUBLIC_KEY));
  const release = releaseOf(lists, [...stanzas.keys()].sort(), epoch);
  await signed(release, at('dists', SUITE), signer);
}

interface List {
  readonly name: string;
  readonly bytes: Uint8Array;
}

function stanzaOf(control: string, name: string, bytes: Uint8Array): string {
  return `${control.trimEnd()}\nFilename: ${name}\nSize: ${bytes.length}\nSHA256: ${sha256(bytes)}\n`;
}

function releaseOf(lists: readonly List[], architectures: readonly string[], epoch: number): string {
  const sums = lists.map(({ name, bytes }) => ` ${sha256(bytes)} ${bytes.length} ${name}\n`);
  return [
    'Origin: Errand\nLabel: Errand\n',
    `Suite: ${SUITE}\nCodename: ${SUITE}\n`,
    `Date: ${new Date(epoch * 1_000).toUTCString().replace('GMT', 'UTC')}\n`,
    `Architectures: ${architectures.join(' ')}\nComponents: main\n`,
    `SHA256:\n${sums.join('')}`,
  ].join('');
}

/** Each takes its place at once, and the one that apt asks for is the last. */
async function signed(release: string, directory: string, signer: Signer): Promise<void> {
  const next = path.join(directory, '.next');
  const file = `${next}-Release`;
  writeFileSync(file, release);
  await signer.sign(file, `${next}-Release.gpg`, 'detached');
  await signer.sign(file, `${next}-InRelease`, 'around');
  for (const name of ['Release', 'Release.gpg', 'InRelease']) renameSync(`${next}-${name}`, path.join(directory, name));
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
