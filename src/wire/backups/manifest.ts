// The manifest of a backup: what was copied, when and by which Errand, and where its list of files begins.
import { array, object } from '../shapes/composites.ts';
import { auditAnchor } from '../people/audit-anchor.ts';
import { integer, matching, oneOf, string, text, time } from '../shapes/scalars.ts';
import { nullable, optional, type Static } from '../shapes/shape.ts';

const count = integer({ from: 0 });
const digest = matching(/^[0-9a-f]{64}$/u, 'must be a SHA-256 in hexadecimal');
const bytes = matching(/^[A-Za-z0-9_-]{1,128}$/u, 'must be base64url');

/** Such as `20260302T033000Z-4f9a1c`: its time in UTC, so that ids sort by age. */
export const backupId = matching(/^\d{8}T\d{6}Z-[0-9a-f]{6}$/u, 'must be the id of a backup');

const part = object({ files: count, bytes: count });
/** Without links and folders in format 1. `holes`: of the bytes, those that take no space; from format 3 on. */
const tree = object({
  files: count,
  bytes: count,
  links: optional(count),
  folders: optional(count),
  holes: optional(count),
});

/** Of the manifests that this Errand writes. Format 1 had regular files alone, and format 2 named nothing that was left out. */
export const FORMAT = 3;

/** What could not be copied or restored. `path`: shortened when it is long. */
export const leftOutFile = object({ path: string, why: string });
export type LeftOutFile = Static<typeof leftOutFile>;

/** The master key, encrypted with a passphrase: scrypt, then AES-256-GCM. */
const wrappedKey = object({
  n: integer({ from: 2, to: 1_048_576 }),
  r: integer({ from: 1, to: 32 }),
  p: integer({ from: 1, to: 16 }),
  salt: bytes,
  nonce: bytes,
  sealed: bytes,
});
export type WrappedKey = Static<typeof wrappedKey>;

export const manifest = object({
  format: integer({ from: 1, to: FORMAT }),
  id: backupId,
  created_at: time,
  errand_version: text({ max: 100 }),
  schema_version: integer({ from: 1 }),
  database: part,
  blobs: part,
  /** The bucket that has the bytes of blobs, of which the backup has none; absent: it has them all. */
  bucket: optional(text({ max: 1_000 })),
  /** Null: they were left out. */
  workspaces: nullable(tree),
  configuration: tree,
  /** Blobs that the database names and whose bytes were not there. */
  missing_blobs: count,
  /** Special files, unreadable files and those whose path is too long; in format 1 links, too. */
  left_out: count,
  /** The first of them. */
  left_out_files: optional(array(leftOutFile)),
  /** Files that changed each time they were read. */
  changing: count,
  /** What this backup added to the repository. */
  added: object({ objects: count, bytes: count }),
  /** The end of the audit log. */
  audit: nullable(object({ last_id: count, last_hash: digest })),
  /** The file with the anchor of that log, as it was before the database was copied; null when there was none. Older manifests have none. */
  audit_anchor: optional(nullable(auditAnchor)),
  /** The objects that have the list of files, in order. */
  list: array(digest),
  master_key: nullable(wrappedKey),
  /** HMAC of the fields above, with a key that only the installation has. */
  seal: digest,
  /** SHA-256 of the fields above. */
  sha256: digest,
});
export type Manifest = Static<typeof manifest>;

/** One file, link or folder of the list: a line of JSON. A folder comes after its contents. */
export const listedFile = object({
  kind: matching(/^(?:database|blob|workspace|configuration)$/u, 'must be the kind of a file'),
  /** Without one, it is a regular file. */
  type: optional(oneOf(['link', 'folder'])),
  /** Of a link, the text that it has. */
  target: optional(string),
  /** Of a blob, its key; of a file of a workspace, the session's id and the path there. */
  path: string,
  size: count,
  mode: integer({ from: 0, to: 0o777 }),
  modified_at: integer(),
  /** Its content, cut into pieces of a megabyte. */
  objects: array(digest),
});
export type ListedFile = Static<typeof listedFile>;
