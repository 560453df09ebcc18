// Signatures of requests to a bucket (AWS Signature Version 4).
import { S3Error } from './s3-error.ts';
import type { S3Target } from './target.ts';

/** Of no bytes. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the body; null without one. */
  readonly sha256: string | null;
  readonly now: number;
}

/** Keys derived from the secret for a day and a region: few, and small. */
const derived = new Map<string, ArrayBuffer>();
const MAX_DERIVED = 8;

async function signerOf(target: S3Target, { method, url, headers, now }: Omit<Unsigned, 'sha256'>, inQuery: boolean) {
  const key = target.key();
  if ('why' in key) throw new S3Error(`blobs.s3.key_file ${key.why}.`, { status: null, code: null, isPassing: false });
  // Its library is loaded with the first request.
  const { AwsV4Signer } = await import('aws4fetch');
  if (derived.size >= MAX_DERIVED) derived.clear();
  return new AwsV4Signer({
    method,
    url: url.href,
    headers,
    accessKeyId: key.id,
    secretAccessKey: key.secret,
    service: 's3',
    region: target.region,
    cache: derived,
    datetime: new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    signQuery: inQuery,
  });
}

/** The headers of a request, with its signature. Throws `S3Error` where the key can't be read. */
export async function signed(target: S3Target, request: Unsigned): Promise<Record<string, string>> {
  const headers = { ...request.headers, 'x-amz-content-sha256': request.sha256 ?? EMPTY_SHA256 };
  const signer = await signerOf(target, { ...request, headers }, false);
  return Object.fromEntries((await signer.sign()).headers);
}

/** An address that needs no header, for so many seconds. Throws as `signed` does. */
export async function presigned(
  target: S3Target,
  { url, now, seconds }: { readonly url: URL; readonly now: number; readonly seconds: number },
): Promise<string> {
  url.searchParams.set('X-Amz-Expires', String(seconds));
  const signer = await signerOf(target, { method: 'GET', url, headers: {}, now }, true);
  // A space as services sign it.
  return (await signer.sign()).url.href.replaceAll('+', '%20');
}
