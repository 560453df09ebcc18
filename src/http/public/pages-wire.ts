// Published pages as everybody reads them (§2.13, F9). Nothing else of a page leaves the installation.
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { assetPathOf } from '../../domain/publishing/public-address.ts';
import { beijingTime } from '../../domain/publishing/public-time.ts';
import { mediaTypeOf } from '../../files/media-type.ts';
import type { PublicPage, PublicVersion } from '../../operations/publishing/public-pages.ts';
import type { PublishedFileWire } from '../../wire/publishing/file.ts';
import type { PublicPageItemWire, PublicPageWire, PublicVersionWire } from '../../wire/publishing/public-page.ts';
import type { PublicShareWire, ShareMetadataWire } from '../../wire/publishing/public-share.ts';

/** A page of the board, which has a latest version. */
export function renderItem(page: PublicPage & { readonly latest: PublicVersion }): PublicPageItemWire {
  const { key, name, description, category, latest, versionCount, createdAt, updatedAt, owner } = page;
  return {
    publish_key: key,
    name,
    description,
    category,
    latest_published_at: beijingTime(latest.publishedAt),
    version_count: versionCount,
    created_at: beijingTime(createdAt),
    updated_at: beijingTime(updatedAt),
    owner: { account: owner.account, name: owner.name, department: owner.department },
  };
}

/** `base`: what public addresses begin with. */
export function renderDetail(page: Omit<PublicPage, 'owner' | 'versionCount'>, base: string): PublicPageWire {
  const { key, name, description, category, origin, tags, isOnBoard, isDistractionFree, latest } = page;
  // Of a page whose versions have all ended, clients still get what it was (§2.13).
  const known = latest ?? page.lastKnown;
  return {
    publish_key: key,
    name,
    description,
    category,
    origin,
    tags,
    public_to_board_enabled: isOnBoard,
    latest_share_code: known?.shareCode ?? null,
    latest_entry_path: known?.entryPath ?? null,
    latest_published_at: known && beijingTime(known.publishedAt),
    distraction_free_mode_enabled: isDistractionFree,
    share_type: known?.shareType ?? null,
    workspace_file: latest && renderEntry(latest, base),
  };
}

export function renderVersion(version: Omit<PublicVersion, 'entry' | 'shareType'>): PublicVersionWire {
  return {
    version_no: version.no,
    share_code: version.shareCode,
    entry_path: version.entryPath,
    published_at: isoTime(version.publishedAt),
    is_latest: version.isLatest,
  };
}

export function renderShare(page: PublicPage, version: PublicVersion, base: string): PublicShareWire {
  return {
    share_code: version.shareCode,
    share_type: version.shareType,
    publish_key: page.key,
    name: page.name,
    description: page.description,
    category: page.category,
    tags: page.tags,
    owner: { account: page.owner.account, name: page.owner.name, department: page.owner.department },
    version_no: version.no,
    is_latest: version.isLatest,
    entry_path: version.entryPath,
    published_at: isoTime(version.publishedAt),
    expires_at: isoTimeOrNull(version.expiresAt),
    distraction_free_mode_enabled: page.isDistractionFree,
    workspace_file: renderEntry(version, base),
  };
}

export function renderMetadata(page: PublicPage, version: PublicVersion): ShareMetadataWire {
  const { entry } = version;
  return {
    share_code: version.shareCode,
    share_type: version.shareType,
    title: page.name,
    description: page.description,
    mime_type: mediaTypeOf(nameOf(entry.path)),
    size: entry.size,
    sha256: entry.sha256,
    entry_path: version.entryPath,
    version_no: version.no,
    file_count: version.fileCount,
    total_size: version.totalSize,
    published_at: isoTime(version.publishedAt),
    expires_at: isoTimeOrNull(version.expiresAt),
  };
}

function renderEntry(version: PublicVersion, base: string): PublishedFileWire {
  const { path } = version.entry;
  const name = nameOf(path);
  return { name, path, mimeType: mediaTypeOf(name), ...addressesOf(version, path, base) };
}

/** Where a file of a version is shown, and where it is downloaded. */
export function addressesOf(version: Pick<PublicVersion, 'shareCode' | 'entryPath'>, path: string, base: string) {
  const url = `${base}${assetPathOf(version, path)}`;
  return { url, downloadUrl: `${url}?download=1` };
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
