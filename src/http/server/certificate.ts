// The certificate of the daemon and its key: read from their files, and checked before they are used.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { locateSecret, type SecretLocations } from '../../catalog/reading/secret-file.ts';
import { readSmallFile } from '../../catalog/reading/read-small-file.ts';
import { isRoots } from '../../disk/kernel-users.ts';
import { KB } from '../../domain/byte-units.ts';
import type { Settings } from '../../domain/settings.ts';
import { contextOptions } from './secure-server.ts';

/** A certificate with its chain and its key, as PEM, and what operators want to know of it. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** Its first names, as `errand.example.com, www.example.com`. */
  readonly names: string;
  /** SHA-256. */
  readonly fingerprint: string;
  /** Epoch ms: when the whole chain is valid. */
  readonly validFrom: number;
  readonly expiresAt: number;
}

export type CertificateRead =
  | { readonly ok: true; readonly certificate: Certificate }
  /** `why` begins with the setting, and never contains the key. */
  | { readonly ok: false; readonly why: string };

const MAX_CERTIFICATES = 10;
const MAX_BYTES = 256 * KB;
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const BEGIN = /-----BEGIN CERTIFICATE-----/g;
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Refuses what was read, with the words for the operator. */
class Refusal extends Error {}

/** Reads the pair of files. Refuses what no client could use: another key, a chain in another order, a key that others can read. */
export function readCertificate(tls: Settings['tls'], locations: SecretLocations): CertificateRead {
  try {
    const cert = readText('tls.cert_file', tls.certFile, locations).text;
    const file = readText('tls.key_file', tls.keyFile, locations);
    if (!file.isCredential) requirePrivate(file.path);
    const chain = readChain(cert, tls.certFile);
    const key = readKey(file.text, file.path);
    requireOrder(chain, key, tls);
    requireUsable({ cert, key: file.text });
    return { ok: true, certificate: { cert, key: file.text, ...factsOf(chain) } };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, why: error.message };
    throw error;
  }
}

function readText(setting: string, reference: string, locations: SecretLocations) {
  const place = locateSecret(reference, locations);
  if ('why' in place) throw new Refusal(`${setting} ${place.why}`);
  const read = readSmallFile(place.path, MAX_BYTES);
  if (read.kind === 'missing') throw new Refusal(`${setting}: ${place.path} does not exist`);
  if (read.kind === 'unreadable') throw new Refusal(`${setting}: ${place.path} ${read.why}`);
  return { text: read.text, path: place.path, isCredential: reference.startsWith('credential:') };
}

/** Any access of others; any of the group, unless the file is root's, who may let it read. */
function requirePrivate(path: string): void {
  const { mode, uid } = statSync(path);
  const isOpen = (mode & (isRoots(uid) ? 0o037 : 0o077)) !== 0;
  if (!isOpen) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  const way = isRoots(uid) ? `chmod 640 ${path}` : `chmod 600 ${path}`;
  throw new Refusal(`tls.key_file: ${path} is a private key, and its mode ${shown} opens it to others. Run: ${way}`);
}

function readChain(text: string, file: string): readonly X509Certificate[] {
  const blocks = text.match(BLOCK) ?? [];
  if (blocks.length === 0) throw new Refusal(`tls.cert_file: ${file} contains no whole certificate in PEM form`);
  if (blocks.length !== text.match(BEGIN)?.length)
    throw new Refusal(`tls.cert_file: ${file} contains a certificate that is cut off`);
  if (blocks.length > MAX_CERTIFICATES)
    throw new Refusal(`tls.cert_file: ${file} contains more than ${MAX_CERTIFICATES} certificates`);
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new Refusal(`tls.cert_file: certificate ${index + 1} in ${file} can't be read`);
    }
  });
}

function readKey(text: string, path: string): KeyObject {
  if (ENCRYPTED.test(text)) {
    const way = `openssl pkey -in ${path} -out NEW, with NEW readable by the daemon alone`;
    throw new Refusal(
      `tls.key_file: ${path} is encrypted, and nobody is there to enter its passphrase. Decrypt it: ${way}`,
    );
  }
  try {
    return createPrivateKey(text);
  } catch {
    throw new Refusal(`tls.key_file: ${path} contains no private key in PEM form`);
  }
}

/** The certificate of the key comes first, and each is issued by the next one. */
function requireOrder(chain: readonly X509Certificate[], key: KeyObject, { certFile, keyFile }: Settings['tls']): void {
  const place = chain.findIndex((certificate) => certificate.checkPrivateKey(key));
  if (place === -1) throw new Refusal(`tls: the key in ${keyFile} is not that of the certificate in ${certFile}`);
  const order = 'the certificate of the daemon must come first, and then each that issued the one before';
  if (place > 0)
    throw new Refusal(`tls.cert_file: ${certFile} begins with another certificate than that of the key: ${order}`);
  const broken = chain.findIndex((one, index) => index > 0 && !isIssued(chain[index - 1]!, one));
  if (broken !== -1)
    throw new Refusal(`tls.cert_file: certificate ${broken + 1} in ${certFile} did not issue the one before: ${order}`);
}

const isIssued = (one: X509Certificate, by: X509Certificate) => one.checkIssued(by) && one.verify(by.publicKey);

/** Whether OpenSSL takes the pair: it refuses, for one, keys that are too short. */
function requireUsable(pair: Pick<Certificate, 'cert' | 'key'>): void {
  try {
    createSecureContext(contextOptions(pair));
  } catch (error) {
    const { code, reason } = error as NodeJS.ErrnoException & { readonly reason?: string };
    throw new Refusal(`tls: the certificate can't be used: ${reason ?? code ?? 'unknown error'}`);
  }
}

const SHOWN_NAMES = 3;

function namesOf({ subjectAltName, subject }: X509Certificate): string {
  if (subjectAltName === undefined) return subject.replaceAll('\n', ', ');
  const names = subjectAltName.split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''));
  const more = names.length - SHOWN_NAMES;
  return names.slice(0, SHOWN_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function factsOf(chain: readonly X509Certificate[]) {
  const [first] = chain;
  return {
    names: namesOf(first!),
    fingerprint: first!.fingerprint256,
    validFrom: Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom))),
    expiresAt: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))),
  };
}
