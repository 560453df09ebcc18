// What the paths of the public interface name.
import { ErrandError, notFound } from '../../domain/errors.ts';

type Params = { readonly params: Readonly<Record<string, string>> };

const KEY = /^[0-9A-Za-z]{16}$/;
const CODE = /^[0-9A-Za-z]{22}$/;
const NUMBER = /^[1-9]\d{0,14}$/;

/** Throws `not_found` for an invalid form, as the others do (A8). */
export function keyInPath({ params }: Params): string {
  const key = params['publish_key'] ?? '';
  if (!KEY.test(key)) throw notFound('Page');
  return key;
}

export function codeInPath({ params }: Params): string {
  const code = params['share_code'] ?? '';
  if (!CODE.test(code)) throw notFound('Share');
  return code;
}

export function versionNoInPath({ params }: Params): number {
  const no = params['version_no'] ?? '';
  if (!NUMBER.test(no)) throw notFound('Version');
  return Number(no);
}

const ASSETS = '/assets/';

/**
 * The path of a file relative to the entry's folder, decoded once, part by part. Throws `not_found` for what names no file:
 * a part that can't be decoded, or that contains a slash. Whether the version has the file is for its manifest to say.
 */
export function assetInPath(url: string): string {
  const [path = ''] = url.split('?', 1);
  const parts = path
    .slice(path.indexOf(ASSETS) + ASSETS.length)
    .split('/')
    .map(decoded);
  if (parts.some((part) => part === undefined || part === '' || part.includes('/') || part.includes('\0')))
    throw noSuchFile();
  return parts.join('/');
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** The refusal of a file that a share doesn't have. */
export function noSuchFile(): ErrandError {
  return new ErrandError('not_found', 'File not found.', { details: { why: 'file' } });
}
