// What lists and records of publish pages, their versions and their shares show.
import type { OwnedPageWire, OwnedVersionWire } from '../../../wire/publishing/page.ts';
import type { ShareWire } from '../../../wire/publishing/share.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';

/** An address, which names the thing as well as its key does. */
const address = <T>(name: string, value: (row: T) => string | null, worth: number): Column<T> => ({
  ...column(name, value, worth),
  isWhole: true,
});

/** The public interface has it in Beijing time, without its zone (§2.13). */
function publishedAt({ latest_published_at: text }: OwnedPageWire): string | null {
  return text === null ? null : new Date(`${text.replace(' ', 'T')}+08:00`).toISOString();
}

export const PAGES: readonly Column<OwnedPageWire>[] = [
  address('publish_key', (page) => page.publish_key, 1),
  column('owner', ({ owner }) => owner.account, 5),
  field('name', 8),
  column('versions', ({ version_count: count }) => count, 4),
  column('board', ({ public_to_board_enabled: isOnBoard }) => isOnBoard, 3),
  column('latest_published_at', publishedAt, 4),
  address('page_url', (page) => page.page_url, 9),
];

export const PAGE: readonly Column<OwnedPageWire>[] = [
  field('name'),
  field('page_url'),
  field('latest_share_url'),
  field('publish_key'),
  column('owner', ({ owner }) => owner.account),
  field('description'),
  field('category'),
  column('tags', ({ tags }) => tags.join(', ')),
  column('board', ({ public_to_board_enabled: isOnBoard }) => isOnBoard),
  column('distraction_free', ({ distraction_free_mode_enabled: isAlone }) => isAlone),
  field('entry_path'),
  field('origin'),
  field('session_id'),
  field('scheduled_task_id'),
  column('versions', ({ version_count: count }) => count),
  column('latest_published_at', publishedAt),
  field('publish_center_id'),
  field('created_at'),
  field('updated_at'),
];

const STATUS = state<OwnedVersionWire>('status', ({ share_status: status }) => status, 8);

export const VERSIONS: readonly Column<OwnedVersionWire>[] = [
  column('version', ({ version_no: no }) => no, 9),
  STATUS,
  column('latest', ({ is_latest: isLatest }) => isLatest, 3),
  column('type', ({ share_type: type }) => type, 2),
  field('published_at', 5),
  field('expires_at', 4),
  column('files', ({ file_count: count }) => count, 3),
  column('size', ({ total_size: size }) => size, 3),
  field('reason', 1),
  address('share_url', (version) => version.share_url, 9),
];

export const VERSION: readonly Column<OwnedVersionWire>[] = [
  column('version', ({ version_no: no }) => no),
  field('share_url'),
  field('share_code'),
  STATUS,
  column('latest', ({ is_latest: isLatest }) => isLatest),
  column('type', ({ share_type: type }) => type),
  field('entry_path'),
  column('files', ({ file_count: count }) => count),
  column('size', ({ total_size: size }) => size),
  column('trigger', ({ trigger_type: trigger }) => trigger),
  field('reason'),
  field('published_at'),
  field('expires_at'),
  field('withdrawn_at'),
];

export const SHARES: readonly Column<ShareWire>[] = [
  address('share_code', (share) => share.share_code, 1),
  STATUS,
  field('name', 6),
  column('version', ({ version_no: no }) => no, 5),
  column('type', ({ share_type: type }) => type, 2),
  field('published_at', 3),
  field('expires_at', 4),
  address('publish_key', (share) => share.publish_key, 0),
  address('share_url', (share) => share.share_url, 9),
];

export const SHARE: readonly Column<ShareWire>[] = [field('name'), field('publish_key'), ...VERSION];
