// The anchor of the audit log: an end that the log had, kept outside of its rows, so that a log that was emptied, cut off or replaced
// as a whole is noticed (G17).
import { isoTime } from '../clock.ts';
import { NO_HASH } from './audit.ts';

/** An entry by its number and hash. */
export interface AuditLink {
  readonly id: number;
  readonly hash: string;
}

/** Before the first entry. */
export const NO_ENTRY: AuditLink = { id: 0, hash: NO_HASH };

/**
 * What can be wrong. `entries_missing`: the log ends before its anchor, or has nothing there. `entry_changed`: it has another entry
 * there. `anchor_missing`, `anchor_altered`: the anchor itself is not as the daemon left it.
 */
export const ANCHOR_FAULTS = ['entries_missing', 'entry_changed', 'anchor_missing', 'anchor_altered'] as const;
export type AnchorFault = (typeof ANCHOR_FAULTS)[number];

/** What the daemon found once. It stays: what is lost doesn't come back. */
export interface AnchorDoubt {
  readonly fault: AnchorFault;
  /** Epoch ms. */
  readonly foundAt: number;
  /** The end that the log had; null when no anchor said so. */
  readonly had: AuditLink | null;
}

/** The log contained `end`, and continues from there. It may have more entries: an anchor follows the log by some seconds. */
export interface AuditAnchor {
  readonly end: AuditLink;
  /** The first that was found. */
  readonly doubt: AnchorDoubt | null;
}

const WORDS: Readonly<Record<AnchorFault, (entry: string) => string>> = {
  entries_missing: (entry) =>
    `${entry}, which the log had, is missing: the log was emptied or cut off, or replaced with an older copy`,
  entry_changed: (entry) => `another is in place of ${entry}, which the log had: the log was rewritten or replaced`,
  anchor_missing: () => 'the file with the anchor of the log is missing: the log may have been cut off or replaced',
  anchor_altered: () =>
    'the anchor of the log was altered, or sealed with another master key: the log may have been cut off or replaced',
};

/** A fault as a sentence. */
export function wordsOfFault(fault: AnchorFault, had: AuditLink | null): string {
  const words = `${WORDS[fault](`entry ${had?.id ?? 1}`)}.`;
  return `${words[0]!.toUpperCase()}${words.slice(1)}`;
}

/** What was found once, as a sentence. */
export function wordsOfDoubt({ fault, foundAt, had }: AnchorDoubt): string {
  return `On ${isoTime(foundAt)}, the daemon found that ${WORDS[fault](`entry ${had?.id ?? 1}`)}.`;
}

/** Whether two anchors say the same. */
export function isSameAnchor(one: AuditAnchor, other: AuditAnchor): boolean {
  return JSON.stringify(fieldsOf(one)) === JSON.stringify(fieldsOf(other));
}

/** What an anchor says, in order: what is sealed. */
export function fieldsOf({ end, doubt }: AuditAnchor): readonly unknown[] {
  const found = doubt && [doubt.fault, doubt.foundAt, doubt.had && [doubt.had.id, doubt.had.hash]];
  return [end.id, end.hash, found];
}
