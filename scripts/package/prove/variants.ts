// Other versions of a built Debian package, and a repository of apt for them, for proofs.
import { readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { addToRepository } from '../apt/apt.ts';
import { runTool } from '../run-tool.ts';
import { openSigner } from '../signing.ts';

/** What is changed in the package: its version, and something in a script or a program. */
export interface Variant {
  readonly version: string;
  readonly file?: string;
  readonly from?: RegExp;
  readonly to?: string;
}

export async function makeVariant(
  deb: string,
  { version, file, from, to }: Variant,
  at: { readonly work: string; readonly to: string },
): Promise<void> {
  const folder = path.join(at.work, `variant-${version}`);
  await runTool('dpkg-deb', ['-R', deb, folder]);
  const edit = async (place: string, pattern: RegExp, words: string) => {
    const text = readFileSync(path.join(folder, place), 'utf8');
    if (!pattern.test(text)) throw new Error(`${place} has no ${pattern}.`);
    await writeFile(path.join(folder, place), text.replace(pattern, words));
  };
  await edit('DEBIAN/control', /^Version: .*$/m, `Version: ${version}`);
  if (file !== undefined) await edit(file, from!, to!);
  // Damage is looked for, and these files are not damaged.
  if (file?.startsWith('usr/') === true) {
    const sum = (await runTool('md5sum', [file], { cwd: folder })).split(' ')[0]!;
    await edit('DEBIAN/md5sums', new RegExp(`^.*  ${file}$`, 'm'), `${sum}  ${file}`);
  }
  await runTool('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', folder, at.to]);
  rmSync(folder, { recursive: true });
}

/** A file with a secret key, in `work`. */
export async function makeKey(work: string): Promise<string> {
  const home = path.join(work, 'keys');
  await mkdir(home, { mode: 0o700 });
  const gpg = (...args: readonly string[]) => runTool('gpg', ['--batch', '--homedir', home, ...args]);
  await gpg('--passphrase', '', '--quick-generate-key', 'Proof <proof@example.com>', 'ed25519', 'sign', 'never');
  const key = path.join(work, 'key.asc');
  await writeFile(key, await gpg('--armor', '--export-secret-keys'));
  await runTool('gpgconf', ['--homedir', home, '--kill', 'all']);
  return key;
}

export async function layRepository(debs: readonly string[], at: { key: string; directory: string }): Promise<void> {
  const signer = await openSigner(at.key);
  try {
    await addToRepository(debs, { directory: at.directory, epoch: Math.floor(Date.now() / 1_000), signer });
  } finally {
    await signer.close();
  }
}
