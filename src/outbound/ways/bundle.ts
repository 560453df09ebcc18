// Files of trusted issuers: certificates in PEM form, one after another.
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { MB } from '../../domain/byte-units.ts';

const MAX_BYTES = 4 * MB;
const BLOCK = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Where systems keep what they trust: Debian, Fedora, SUSE, Alpine and others. */
const USUAL: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The file of the system's trust store; undefined where there is none. */
export function findSystemStore(): string | undefined {
  return USUAL.find((file) => existsSync(file));
}

export type BundleRead =
  | { readonly ok: true; readonly certificates: readonly string[] }
  /** `why` begins with the path. */
  | { readonly ok: false; readonly why: string };

/** Reads a file of an administrator: each certificate in it must be whole. */
export function readBundle(file: string): BundleRead {
  const text = textOf(file);
  if ('why' in text) return { ok: false, why: `${file} ${text.why}` };
  const certificates = certificatesIn(text.text);
  if (certificates.length === 0)
    return { ok: false, why: `${file} is no CA bundle: it contains no certificate in PEM form` };
  const broken = certificates.findIndex((certificate) => !isWhole(certificate));
  if (broken === -1) return { ok: true, certificates };
  return { ok: false, why: `${file} is no CA bundle: certificate ${broken + 1} in it can't be read` };
}

/** The certificates of the system's store; none where it can't be read. */
export function readSystemStore(file: string): readonly string[] {
  const text = textOf(file);
  return 'why' in text ? [] : certificatesIn(text.text);
}

export function isWhole(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).subject !== undefined;
  } catch {
    return false;
  }
}

/** What changes when a file does. */
export function versionOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${file} ${mtimeMs} ${size} ${ino}`;
  } catch {
    return file;
  }
}

const certificatesIn = (text: string): string[] => text.match(BLOCK) ?? [];

function textOf(file: string): { readonly text: string } | { readonly why: string } {
  try {
    const stats = statSync(file);
    // A FIFO would wait for a writer that may never come.
    if (!stats.isFile()) return { why: 'is not a file' };
    if (stats.size > MAX_BYTES) return { why: `is larger than ${MAX_BYTES / MB} MB` };
    return { text: readFileSync(file, 'latin1') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { why: code === 'ENOENT' ? 'does not exist' : `can't be read (${code})` };
  }
}
