// Whether a request is signed as AWS Signature Version 4 says: the server of the tests believes any signature.
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { S3Key } from '../../../src/files/blobs/s3/target.ts';

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** In its headers, or in its address. */
export function isSigned({ method, url = '', headers }: IncomingMessage, key: S3Key): boolean {
  const { pathname, searchParams } = new URL(url, 'http://x');
  const given = /Credential=(\S+), SignedHeaders=(\S+), Signature=(\S+)/.exec(headers.authorization ?? '');
  const [credential, names, signature] =
    given?.slice(1) ??
    ['Credential', 'SignedHeaders', 'Signature'].map((name) => searchParams.get(`X-Amz-${name}`) ?? '');
  searchParams.delete('X-Amz-Signature');
  const [id, ...scope] = credential!.split('/');
  const [day, region, service] = scope;
  if (id !== key.id) return false;
  const query = [...searchParams].map((pair) => pair.map(encode).join('=')).sort();
  const path = pathname
    .split('/')
    .map((part) => encode(decodeURIComponent(part)))
    .join('/');
  const signed = names!.split(';').map((name) => `${name}:${String(headers[name])}\n`);
  const payload = given === null ? 'UNSIGNED-PAYLOAD' : String(headers['x-amz-content-sha256']);
  const canonical = [method, path, query.join('&'), signed.join(''), names, payload].join('\n');
  const date = String(headers['x-amz-date'] ?? searchParams.get('X-Amz-Date'));
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n');
  const derived = [region!, service!, 'aws4_request'].reduce(hmac, hmac(`AWS4${key.secret}`, day!));
  return hmac(derived, text).toString('hex') === signature;
}
