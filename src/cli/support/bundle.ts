// Makes a support bundle: collects its parts, blots every text, and packs them.
import type { Writable } from 'node:stream';
import { MB } from '../../domain/byte-units.ts';
import { messageOf } from '../../domain/errors.ts';
import { firstBytes } from '../../domain/excerpt.ts';
import { packTarGz } from '../../files/archives/pack-tar-gz.ts';
import type { Context } from '../frame/context.ts';
import { wordsOfNode } from '../frame/node-of.ts';
import type { Blot } from '../../outbound/secrets/blot.ts';
import { type BundleOptions, PARTS } from './parts.ts';

/** A file of the bundle. `fault`: why it could not be collected, which is then all that is in it. */
export interface BundleFile {
  readonly name: string;
  readonly about: string;
  readonly text: string;
  readonly fault: string | null;
}

/** Maximum bytes of one part. */
const MAX_PART_BYTES = 2 * MB;
const CUT = '\n[cut here: this part is longer than a bundle takes]\n';

/** Collects every part, one after another, and a README that lists them. A part that fails doesn't stop the others. */
export async function collectBundle(context: Context, options: BundleOptions, blot: Blot): Promise<BundleFile[]> {
  const files: BundleFile[] = [];
  for (const { name, about, collect } of PARTS) {
    context.signal.throwIfAborted();
    const found = await Promise.resolve()
      .then(() => collect(context, options))
      .then(
        (value) => ({ value, fault: null }),
        (error: unknown) => ({ value: null, fault: blot(messageOf(error)) }),
      );
    const text = found.fault === null ? textOf(found.value) : `Not collected: ${found.fault}\n`;
    files.push({ name, about, text: bounded(blot(text)), fault: found.fault });
  }
  const readme = readmeOf(files, new Date(context.io.now()).toISOString(), options.node);
  return [{ name: 'README.txt', about: 'what is in here', text: readme, fault: null }, ...files];
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`);

function bounded(text: string): string {
  const start = firstBytes(text, MAX_PART_BYTES);
  return start.length === text.length ? text : `${start}${CUT}`;
}

function readmeOf(files: readonly BundleFile[], at: string, node: BundleOptions['node']): string {
  const whose = node === null ? '' : `, of ${wordsOfNode(node)}`;
  const lines = files.map(
    ({ name, about, fault }) => `${name.padEnd(20)} ${fault === null ? about : `not collected: ${fault}`}`,
  );
  return `A support bundle of Errand, made at ${at}${whose}.

${lines.join('\n')}

It has no conversations, no files of workspaces, and no secrets: keys, tokens, passwords and signed addresses
are replaced by [removed] or [credential]. Read it before you send it.
`;
}

/** Packs the files as tar.gz. */
export async function packBundle(files: readonly BundleFile[], to: Writable, signal: AbortSignal): Promise<void> {
  const bytes = new Map(files.map(({ name, text }) => [`/errand-support/${name}`, Buffer.from(text)]));
  await packTarGz({
    files: [...bytes].map(([path, { length: size }]) => ({ path, size, sha256: '' })),
    bytesOf: async function* ({ path }) {
      yield bytes.get(path)!;
    },
    to,
    signal,
  });
}
