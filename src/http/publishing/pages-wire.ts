// Converts pages and their versions between the wire and the domain, for their owners (F7).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { pagePathOf, sharePathOf } from '../../domain/publishing/public-address.ts';
import type { NewPage, NewVersion, PageChanges, PageRecord, VersionRecord } from '../../operations/publishing/pages.ts';
import type {
  NewPageWire,
  NewVersionWire,
  OwnedPageWire,
  OwnedVersionWire,
  PageChangeWire,
} from '../../wire/publishing/page.ts';
import type { ShareWire } from '../../wire/publishing/share.ts';
import { renderDetail, renderVersion } from '../public/pages-wire.ts';

export function pageChangesOf(body: PageChangeWire): PageChanges {
  const { name, description, category, tags, entry_path: entryPath } = body;
  const { public_to_board_enabled: isOnBoard, distraction_free_mode_enabled: isDistractionFree } = body;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
    ...(tags !== undefined && { tags }),
    ...(entryPath !== undefined && { entryPath }),
    ...(isOnBoard !== undefined && { isOnBoard }),
    ...(isDistractionFree !== undefined && { isDistractionFree }),
  };
}

export function newPageOf(body: NewPageWire): NewPage {
  return {
    name: body.name,
    description: body.description ?? null,
    category: body.category ?? null,
    tags: body.tags ?? [],
    entryPath: body.entry_path,
    isOnBoard: body.public_to_board_enabled ?? false,
    isDistractionFree: body.distraction_free_mode_enabled ?? false,
    sessionId: body.session_id ?? null,
    scheduledTaskId: body.scheduled_task_id ?? null,
  };
}

export function newVersionOf({ reason = null, entry_path: entryPath }: NewVersionWire): NewVersion {
  return { reason, ...(entryPath !== undefined && { entryPath }) };
}

/** `base`: what public addresses begin with. */
export function renderPage(page: PageRecord, base: string): OwnedPageWire {
  const { owner, latest } = page;
  return {
    ...renderDetail(page, base),
    publish_center_id: page.id,
    owner: { account: owner.account, name: owner.name, department: owner.department },
    session_id: page.sessionId,
    scheduled_task_id: page.scheduledTaskId,
    entry_path: page.entryPath,
    version_count: page.versionCount,
    page_url: base + pagePathOf(page.key),
    latest_share_url: latest && base + sharePathOf(latest.shareCode),
    created_at: isoTime(page.createdAt),
    updated_at: isoTime(page.updatedAt),
  };
}

export function renderOwnedVersion(version: VersionRecord, base: string): OwnedVersionWire {
  return {
    ...renderVersion(version),
    share_type: version.shareType,
    share_status: version.status,
    share_url: base + sharePathOf(version.shareCode),
    trigger_type: version.trigger,
    reason: version.reason,
    file_count: version.fileCount,
    total_size: version.totalSize,
    expires_at: isoTimeOrNull(version.expiresAt),
    withdrawn_at: isoTimeOrNull(version.withdrawnAt),
  };
}

export function renderOwnedShare(version: VersionRecord, base: string): ShareWire {
  return { publish_key: version.pageKey, name: version.pageName, ...renderOwnedVersion(version, base) };
}
