// Addresses of what is published. They need no signature: they end with their share.
import type { Settings } from '../settings.ts';
import { folderOf } from './manifest.ts';

/** What public addresses begin with: the host of the shares' own, where there is one. */
export function publicBaseOf({ publicUrl, shareOrigin }: Pick<Settings, 'publicUrl' | 'shareOrigin'>): string {
  return shareOrigin === '' ? publicUrl : shareOrigin;
}

/** Of a page for people, with the latest version. Begins with `/`, as the others do. */
export function pagePathOf(key: string): string {
  return `/share/p/${key}`;
}

/** Of one version of it. */
export function sharePathOf(code: string): string {
  return `/share/${code}`;
}

/** Of a file of a version. `path` is in the folder of the entry, or below it. */
export function assetPathOf({ shareCode, entryPath }: PublishedEntry, path: string): string {
  const inFolder = path.slice(folderOf(entryPath).length);
  return `/api/v1/public/shares/${shareCode}/assets/${inFolder.split('/').map(encodeURIComponent).join('/')}`;
}

interface PublishedEntry {
  readonly shareCode: string;
  readonly entryPath: string;
}
