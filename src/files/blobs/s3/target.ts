// Which bucket has the bytes, how it is reached, and the address of each object in it.
import { KB } from '../../../domain/byte-units.ts';

/** The key that requests are signed with. */
export interface S3Key {
  readonly id: string;
  /** A secret. */
  readonly secret: string;
}

export interface S3Target {
  /** `http(s)://HOST[:PORT]`, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** What the names of all objects begin with; empty, or ends with `/`. */
  readonly prefix: string;
  /** Whether the bucket stands in the path of an address rather than in its host. */
  readonly pathStyle: boolean;
  /** Absolute path of a PEM file with issuers that are trusted in addition; null for none. */
  readonly caFile: string | null;
  /** What the service encrypts objects with; null leaves it to the bucket. `kmsKey`: empty for the account's own. */
  readonly encryption: { readonly kind: 'AES256' | 'aws:kms'; readonly kmsKey: string } | null;
  /** Reads the key, which may change. */
  key(): S3Key | { readonly why: string };
}

/** The name of the object that has a blob: as its path in a directory of blobs. */
export const objectName = ({ prefix }: Pick<S3Target, 'prefix'>, key: string): string =>
  `${prefix}${key.slice(0, 2)}/${key}`;

/** The address of an object; of the bucket without a name. */
export function addressOf(
  { endpoint, bucket, pathStyle }: S3Target,
  name: string,
  query: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(endpoint);
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  const path = name.split('/').map(encodeURIComponent).join('/');
  url.pathname = pathStyle ? `/${encodeURIComponent(bucket)}/${path}` : `/${path}`;
  // Not by `searchParams`, which writes a space as `+`: services sign it as `%20`.
  url.search = Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&');
  return url;
}

/** What operators call it, whatever address leads there. */
export const locationOf = ({ bucket, prefix }: Pick<S3Target, 'bucket' | 'prefix'>): string =>
  `s3://${bucket}/${prefix}`;

/** What a new object is encrypted with. */
export function encryptionHeaders({ encryption }: Pick<S3Target, 'encryption'>): Record<string, string> {
  if (encryption === null) return {};
  const { kind, kmsKey } = encryption;
  return {
    'x-amz-server-side-encryption': kind,
    ...(kmsKey !== '' && { 'x-amz-server-side-encryption-aws-kms-key-id': kmsKey }),
  };
}

/** What a file is read in while it is sent. */
export const PIECE_BYTES: number = 256 * KB;
