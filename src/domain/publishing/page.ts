// Publish pages: what is published, its versions, and the shares by which anyone reads them (§2.13, F1).

export const PAGE_ORIGINS = ['existing_session', 'scheduled_task'] as const;
/** Where the versions of a page come from. */
export type PageOrigin = (typeof PAGE_ORIGINS)[number];

export const SHARE_TYPES = ['page', 'media', 'file'] as const;
/** What a share shows: an HTML or Markdown entry with its folder, an image, audio or video, or any other file (F11). */
export type ShareType = (typeof SHARE_TYPES)[number];

export const VERSION_TRIGGERS = ['manual', 'auto'] as const;
export type VersionTrigger = (typeof VERSION_TRIGGERS)[number];

/** Whom a page belongs to, as the public reads it. */
export interface PageOwner {
  readonly account: string;
  readonly name: string;
  readonly department: string;
}

/** A page without its versions. Times are epoch ms. */
export interface Page {
  /** `publish_center_id`. */
  readonly id: number;
  /** 16 random base62 characters: `publish_key`. */
  readonly key: string;
  readonly userSeq: number;
  readonly name: string;
  readonly description: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly origin: PageOrigin;
  /** Null for a page of a scheduled task. */
  readonly sessionId: string | null;
  /** Null for a page of an existing session. */
  readonly scheduledTaskId: string | null;
  /** Of the next version; begins with `/`. */
  readonly entryPath: string;
  readonly isOnBoard: boolean;
  readonly isDistractionFree: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An immutable copy of an entry and its folder. */
export interface PageVersion {
  /** From 1. */
  readonly no: number;
  /** 22 random base62 characters. */
  readonly shareCode: string;
  readonly shareType: ShareType;
  readonly entryPath: string;
  readonly trigger: VersionTrigger;
  readonly reason: string | null;
  readonly fileCount: number;
  /** Bytes. */
  readonly totalSize: number;
  readonly publishedAt: number;
  /** Null: never. */
  readonly expiresAt: number | null;
  /** Null unless it was withdrawn for good. */
  readonly withdrawnAt: number | null;
}

export const SHARE_STATUSES = ['active', 'expired', 'withdrawn'] as const;
/** Whether a share can be read. */
export type ShareStatus = (typeof SHARE_STATUSES)[number];

export function shareStatusOf(
  { expiresAt, withdrawnAt }: Pick<PageVersion, 'expiresAt' | 'withdrawnAt'>,
  now: number,
): ShareStatus {
  if (withdrawnAt !== null) return 'withdrawn';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

/** Limits of the fields: characters, and numbers of things. */
export const PAGE_LIMITS = {
  name: 200,
  description: 2_000,
  category: 50,
  tag: 50,
  tags: 20,
  reason: 500,
  entryPath: 1_024,
  /** Pages of one owner. */
  perOwner: 1_000,
  /** Pages of one scheduled task: each firing makes a version of every one. */
  perTask: 20,
} as const;

/** What names are searched by: letters without their case, composed. The database stores the result: a change needs a migration. */
export function searchable(text: string): string {
  // By small letters, then capitals, then small ones: ß and SS, ς and σ are one to some of them only.
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** How often automatic publishing is tried, and the pauses after each failure but the last, in ms (F14). */
export const PUBLISH_PAUSES_MS = [30_000, 120_000] as const;
export const MAX_PUBLISH_ATTEMPTS = PUBLISH_PAUSES_MS.length + 1;
