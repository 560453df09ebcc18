// Signs what is built, with GnuPG and a key that the builder gives.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTool } from './run-tool.ts';

export interface Signer {
  /** Writes the signature of a file into another one: apart from it, or around its text. */
  sign(file: string, into: string, how: 'detached' | 'around'): Promise<void>;
  /** Writes the public key, as text. */
  exportKey(into: string): Promise<void>;
  close(): Promise<void>;
}

/** `key`: a file with a secret key that has no passphrase, or the name of one in the builder's own key ring. */
export async function openSigner(key: string): Promise<Signer> {
  const ring = existsSync(key) ? mkdtempSync(path.join(tmpdir(), 'errand-keys-')) : null;
  const gpg = (...args: readonly string[]) =>
    runTool('gpg', ['--batch', '--yes', ...(ring === null ? [] : ['--homedir', ring]), ...args]);
  const close = async (): Promise<void> => {
    if (ring === null) return;
    await runTool('gpgconf', ['--homedir', ring, '--kill', 'all']).catch(() => '');
    rmSync(ring, { recursive: true, force: true });
  };
  try {
    if (ring !== null) await gpg('--import', key);
    const found = keyIn(await gpg('--list-secret-keys', '--with-colons', ...(ring === null ? [key] : [])), key);
    return signerWith(gpg, found, close);
  } catch (error) {
    await close();
    throw error;
  }
}

type Gpg = (...args: readonly string[]) => Promise<string>;

function signerWith(gpg: Gpg, fingerprint: string, close: Signer['close']): Signer {
  return {
    sign: async (file, into, how) => {
      const kind = how === 'detached' ? '--detach-sign' : '--clear-sign';
      await gpg('--armor', '--digest-algo', 'SHA512', '--local-user', fingerprint, '--output', into, kind, file);
    },
    exportKey: async (into) => writeFileSync(into, await gpg('--armor', '--export', fingerprint)),
    close,
  };
}

function keyIn(list: string, key: string): string {
  const [, found] = /^fpr:+([0-9A-F]+):/m.exec(list) ?? [];
  if (found === undefined) throw new Error(`${key} has no secret key.`);
  return found;
}
