// Published pages as a test makes them up.
import { folderOf } from '../../../src/domain/publishing/manifest.ts';
import { shareTypeOf } from '../../../src/domain/publishing/share-type.ts';
import type { PublicPage, PublicVersion } from '../../../src/operations/publishing/public-pages.ts';
import { AT } from './http-fixture.ts';

const HASH = 'a'.repeat(64);

export function aVersion(path: string, over: Partial<PublicVersion> & { readonly size?: number } = {}): PublicVersion {
  const { size = 1_200, ...others } = over;
  const no = over.no ?? 1;
  return {
    no,
    shareCode: `Code${String(no).padStart(18, '0')}`,
    shareType: shareTypeOf(path),
    entryPath: path,
    publishedAt: AT + no * 60_000,
    expiresAt: null,
    fileCount: 1,
    totalSize: size,
    isLatest: true,
    entry: { path, size, sha256: HASH },
    ...others,
  };
}

export function aPage(over: Partial<PublicPage> = {}): PublicPage {
  const latest = over.latest === undefined ? aVersion('/site/index.html') : over.latest;
  return {
    key: 'KeyOfTides0000001',
    name: 'Tides',
    description: null,
    category: null,
    tags: [],
    origin: 'existing_session',
    isOnBoard: true,
    isDistractionFree: false,
    createdAt: AT,
    updatedAt: AT,
    owner: { account: 'mara', name: 'Mara Vogt', department: 'Lab' },
    versionCount: 1,
    lastKnown: latest,
    ...over,
    latest,
  };
}

/** The address of a file of a version, as it stands in a page. */
export const assetOf = ({ shareCode, entryPath }: PublicVersion, path: string) =>
  `/api/v1/public/shares/${shareCode}/assets/${path.slice(folderOf(entryPath).length)}`;
