// Makes an image of OCI in a single file, without Docker: a Debian, and over it the contents of the Debian package.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { runTool } from '../run-tool.ts';
import type { Target } from '../targets.ts';
import { listOf, TAR_FLAGS, writeBase } from './base.ts';

/** Not one that a machine gives to its people or services. */
const ID = 10_001;
const SECOND = 1_000_000_000;

export interface ImageParts {
  readonly target: Target;
  readonly version: string;
  /** Seconds since 1970. */
  readonly epoch: number;
  /** The directory of the Debian. */
  readonly base: string;
  /** The Debian package of Errand. */
  readonly deb: string;
}

interface Blob {
  readonly digest: string;
  readonly size: number;
}

interface Layer extends Blob {
  /** Of its contents as they were before they were packed. */
  readonly diffId: string;
}

/** Writes the image to `file`; `work` is an empty directory. */
export async function makeImage(parts: ImageParts, work: string, file: string): Promise<void> {
  const layout = path.join(work, 'layout');
  mkdirSync(path.join(layout, 'blobs/sha256'), { recursive: true });
  const baseTar = path.join(work, 'base.tar');
  await writeBase(parts.base, parts.epoch, baseTar);
  const programTar = path.join(work, 'program.tar');
  await writeProgram(parts, path.join(work, 'program'), programTar);
  const layers = [await addLayer(layout, baseTar), await addLayer(layout, programTar)];
  const config = addText(layout, configOf(parts, layers));
  const manifest = addText(layout, manifestOf(parts, config, layers));
  writeFileSync(path.join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(path.join(layout, 'index.json'), JSON.stringify(indexOf(parts, manifest)));
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  await runTool('tar', [
    ...TAR_FLAGS(parts.epoch),
    ...owner,
    '-cf',
    file,
    '-C',
    layout,
    'blobs',
    'index.json',
    'oci-layout',
  ]);
}

/** The contents of the package but for what systemd reads, with the user and the directory of the data. */
async function writeProgram({ base, deb, epoch }: ImageParts, root: string, file: string): Promise<void> {
  await runTool('dpkg-deb', ['--extract', deb, root]);
  for (const name of ['usr/lib/systemd', 'usr/lib/sysusers.d', 'usr/lib/tmpfiles.d', 'usr/share/lintian']) {
    rmSync(path.join(root, name), { recursive: true });
  }
  mkdirSync(path.join(root, 'etc'));
  const line = {
    passwd: `errand:x:${ID}:${ID}:Errand:/data:/usr/sbin/nologin\n`,
    group: `errand:x:${ID}:\n`,
    shadow: 'errand:!:::::::\n',
    gshadow: 'errand:!::\n',
  };
  for (const [name, own] of Object.entries(line)) {
    const mode = name.endsWith('shadow') ? 0o600 : 0o644;
    writeFileSync(path.join(root, 'etc', name), `${listOf(base, name)}${own}`, { mode });
  }
  const owned = ['--owner=0', '--group=0', '--numeric-owner'];
  await runTool('tar', [...TAR_FLAGS(epoch), ...owned, '-cf', file, '-C', root, '.']);
  // The volume takes its owner and mode from the image.
  mkdirSync(path.join(root, 'data'), { mode: 0o700 });
  const ofData = [`--owner=${ID}`, `--group=${ID}`, '--numeric-owner'];
  await runTool('tar', [...TAR_FLAGS(epoch), ...ofData, '-rf', file, '-C', root, './data']);
}

async function addLayer(layout: string, tar: string): Promise<Layer> {
  const packed = `${tar}.gz`;
  await pipeline(createReadStream(tar), createGzip({ level: 6 }), createWriteStream(packed));
  const [diffId, digest] = [await digestOf(tar), await digestOf(packed)];
  const size = statSync(packed).size;
  renameSync(packed, placeOf(layout, digest));
  rmSync(tar);
  return { diffId, digest, size };
}

function addText(layout: string, value: object): Blob {
  const text = JSON.stringify(value);
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  writeFileSync(placeOf(layout, digest), text);
  return { digest, size: Buffer.byteLength(text) };
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return `sha256:${hash.digest('hex')}`;
}

const placeOf = (layout: string, digest: string) => path.join(layout, 'blobs', digest.replace(':', '/'));

const TYPE = 'application/vnd.oci.image';

/** `Healthcheck` is Docker's: the specification leaves room for it, and engines that don't know it pass over it. */
function configOf({ target, version, epoch }: ImageParts, layers: readonly Layer[]): object {
  const created = new Date(epoch * 1_000).toISOString();
  return {
    created,
    architecture: target.debian,
    os: 'linux',
    config: {
      User: `${ID}:${ID}`,
      Env: [
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'ERRAND_DATA_DIR=/data',
        'ERRAND_LISTEN=0.0.0.0:8484',
      ],
      Entrypoint: ['/usr/bin/tini', '--', '/usr/bin/errand'],
      Cmd: ['serve'],
      ExposedPorts: { '8484/tcp': {} },
      Volumes: { '/data': {} },
      WorkingDir: '/data',
      StopSignal: 'SIGTERM',
      Labels: labelsOf(version),
      Healthcheck: {
        Test: ['CMD', '/usr/bin/errand', 'status', '--wait', '--timeout', '5s'],
        Interval: 60 * SECOND,
        Timeout: 30 * SECOND,
        StartPeriod: 120 * SECOND,
        Retries: 3,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: [
      { created, created_by: 'debootstrap', comment: 'Debian' },
      { created, created_by: 'npm run package', comment: `Errand ${version}` },
    ],
  };
}

function labelsOf(version: string): Readonly<Record<string, string>> {
  return {
    'org.opencontainers.image.title': 'errand',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  };
}

function manifestOf({ version }: ImageParts, config: Blob, layers: readonly Layer[]): object {
  return {
    schemaVersion: 2,
    mediaType: `${TYPE}.manifest.v1+json`,
    config: { mediaType: `${TYPE}.config.v1+json`, digest: config.digest, size: config.size },
    layers: layers.map(({ digest, size }) => ({ mediaType: `${TYPE}.layer.v1.tar+gzip`, digest, size })),
    annotations: labelsOf(version),
  };
}

function indexOf({ target, version }: ImageParts, { digest, size }: Blob): object {
  // The first is read by Podman, the second by Docker.
  const name = `localhost/errand:${version}`;
  const described = {
    mediaType: `${TYPE}.manifest.v1+json`,
    digest,
    size,
    platform: { architecture: target.debian, os: 'linux' },
    annotations: { 'org.opencontainers.image.ref.name': name, 'io.containerd.image.name': name },
  };
  return { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: [described] };
}
