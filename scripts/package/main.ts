// Makes the packages: `npm run package [-- --out DIR] [--sign KEY] [--apt DIR] [--oci DIR] [x64] [arm64]`. docs/INSTALLING.md says what they
// are for.
import { createHash } from 'node:crypto';
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addToRepository } from './apt/apt.ts';
import { componentsOf } from './components.ts';
import { debianVersion, makeDebian } from './debian/debian.ts';
import { requireFloor } from './elf-versions.ts';
import { makeExecutable } from './executable.ts';
import { renderLicenses } from './licenses.ts';
import { addImage, type ImageRequest } from './oci/oci.ts';
import { packageFolder } from './parts.ts';
import { runTool } from './run-tool.ts';
import { renderSbom } from './sbom.ts';
import { openSigner, type Signer } from './signing.ts';
import { type Architecture, isArchitecture, TARGETS } from './targets.ts';
import { filesBelow, layTree } from './tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Release {
  readonly version: string;
  /** Seconds since 1970 that every file gets. */
  readonly epoch: number;
  readonly out: string;
  readonly image: ImageRequest | null;
}

/** Returns the names of the Debian packages. */
async function makePackages(architecture: Architecture, release: Release): Promise<readonly string[]> {
  const { version, epoch, out, image } = release;
  const target = TARGETS[architecture];
  const work = mkdtempSync(path.join(out, '.work-'));
  try {
    const tree = await layTree(path.join(work, 'tree'), target);
    const node = path.join(await packageFolder(`node_modules/node-linux-${architecture}`), 'bin/node');
    const addons = filesBelow(tree.directory, '**/*.node').map((name) => path.join(tree.directory, name));
    const glibc = requireFloor([node, ...addons], tree.isCompiled);
    if (!tree.isCompiled) {
      say(
        `No ${target.compilers}g++: for ${architecture}, the addon of the database is the one that requires glibc ${glibc}.`,
      );
    }
    const components = componentsOf(tree.inputs, target);
    const sbom = renderSbom(components, { version, madeAt: epoch * 1_000 });
    const licenses = await renderLicenses(components);
    const name = `errand-${version}-linux-${architecture}`;
    const deb = `errand_${debianVersion(version)}_${target.debian}.deb`;
    writeFileSync(path.join(out, `${name}.cdx.json`), sbom);
    writeFileSync(path.join(out, `${name}.licenses.txt`), licenses);
    await makeExecutable(tree, node, path.join(out, name));
    const made = [name];
    if (await hasDpkg()) {
      const parts = { target, tree, node, version, epoch, sbom, licenses, glibc };
      await makeDebian(parts, path.join(work, 'debian'), path.join(out, deb));
      made.push(deb);
      if (image !== null) {
        const images = path.join(work, 'image');
        mkdirSync(images);
        const found = await addImage({ target, version, epoch, deb: path.join(out, deb) }, image, images);
        say('file' in found ? found.file : `SKIPPED: there is no image for ${architecture}; ${found.why}`);
      }
    } else say('SKIPPED: there is no dpkg-deb, so no Debian package is made.');
    for (const file of made)
      say(`${file}  ${(statSync(path.join(out, file)).size / 1e6).toFixed(1)} MB, glibc ${glibc}`);
    return made.filter((file) => file.endsWith('.deb'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function hasDpkg(): Promise<boolean> {
  return runTool('dpkg-deb', ['--version']).then(
    () => true,
    () => false,
  );
}

function packagesIn(out: string): readonly string[] {
  return readdirSync(out)
    .filter((name) => /^errand[-_]/.test(name) && !name.endsWith('.asc'))
    .sort();
}

/** Of each package, and of the checksums of all. */
async function writeSignatures(out: string, signer: Signer): Promise<void> {
  for (const name of [...packagesIn(out), 'SHA256SUMS']) {
    const file = path.join(out, name);
    await signer.sign(file, `${file}.asc`, 'detached');
  }
}

/** Of all packages in the directory, as `sha256sum --check` reads it. */
async function writeChecksums(out: string): Promise<void> {
  const names = packagesIn(out);
  const lines: string[] = [];
  for (const name of names) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path.join(out, name))) hash.update(chunk as Buffer);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  writeFileSync(path.join(out, 'SHA256SUMS'), lines.join(''));
}

/** The time of the commit, so that the same commit gives the same packages. */
async function epochOfSources(): Promise<number> {
  const given = process.env['SOURCE_DATE_EPOCH'] ?? (await timeOfCommit());
  if (/^\d+\s*$/.test(given)) return Number(given);
  throw new Error('SOURCE_DATE_EPOCH must be a number of seconds.');
}

function timeOfCommit(): Promise<string> {
  return runTool('git', ['log', '-1', '--format=%ct'], { cwd: ROOT }).catch(() => {
    throw new Error('This is no checkout of git: set SOURCE_DATE_EPOCH to the seconds since 1970 that files get.');
  });
}

const { values, positionals } = parseArgs({
  options: {
    out: { type: 'string', default: path.join(ROOT, 'packages') },
    /** A file with a secret key of GnuPG, or the name of one in the key ring. */
    sign: { type: 'string' },
    /** A repository of apt to add the Debian packages to. */
    apt: { type: 'string' },
    /** Where images of OCI are written. */
    oci: { type: 'string' },
    /** A Debian for the image, in place of one that is fetched; for one architecture. */
    base: { type: 'string' },
  },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !isArchitecture(name));
if (unknown !== undefined) throw new Error(`There is no architecture ${unknown}: x64 and arm64 are known.`);
if (values.apt !== undefined && values.sign === undefined)
  throw new Error('apt trusts only what is signed: give --sign KEY.');
// Before minutes of building: a key that is of no use.
const signer = values.sign === undefined ? null : await openSigner(values.sign);
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const out = path.resolve(values.out);
for (const directory of [out, values.oci ?? out]) mkdirSync(directory, { recursive: true });
const image = values.oci === undefined ? null : { directory: path.resolve(values.oci), base: values.base };
const release: Release = { version, epoch: await epochOfSources(), out, image };
const chosen = positionals.filter(isArchitecture);
try {
  const debs: string[] = [];
  for (const architecture of chosen.length > 0 ? chosen : (['x64', 'arm64'] as const)) {
    debs.push(...(await makePackages(architecture, release)));
  }
  for (const directory of new Set([out, ...(image === null ? [] : [image.directory])])) {
    await writeChecksums(directory);
    if (signer !== null) await writeSignatures(directory, signer);
  }
  if (signer !== null && values.apt !== undefined) {
    const directory = path.resolve(values.apt);
    const files = debs.map((name) => path.join(out, name));
    await addToRepository(files, { directory, epoch: release.epoch, signer });
    say(`${directory}: a repository of apt`);
  }
} finally {
  await signer?.close();
}
