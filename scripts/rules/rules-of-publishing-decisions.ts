// What the project decided about publish pages where §2.13 and §4.7 are silent (F1–F14).
import type { Rule } from './rule.ts';

export const RULES_OF_PUBLISHING_DECISIONS: readonly Rule[] = [
  {
    id: 'F1 source',
    text: 'A page is made from a session by hand, or by a scheduled task after each successful run.',
    proofs: {},
    missing: 'a page of each origin',
  },
  {
    id: 'F1 copy',
    text: 'A version is an immutable copy: later runs, and the deletion of its session, change nothing of it.',
    proofs: {
      'store/publishing/releases.test.ts': [
        'versions keep their files when the workspace changes, and each has its own',
        'a session that was deleted gives no version, and its versions stay',
        'a daemon killed while copying leaves nothing that anybody sees, and the draft goes at the next start',
        'a version of many files is copied in parts, and nobody sees it before the last',
      ],
    },
  },
  {
    id: 'F1 codes',
    text: 'Every version has a share code of 22 base62 characters and its type.',
    proofs: {},
    missing: 'the form of codes, and the type by the name of the entry',
  },
  {
    id: 'F2 pages',
    text: '`/share`, `/share/p/KEY` and `/share/CODE` are pages for people that work without JavaScript; distraction-free, the content is alone.',
    proofs: {},
    missing: 'each page without JavaScript in a browser, with title, owner, time, version picker and framed content',
  },
  {
    id: 'F3',
    text: 'Published bytes are sandboxed without the daemon’s origin, nosniff and without cookies; SVG and XML run no script.',
    proofs: {},
    missing: 'the headers of each kind of file, and a browser in which a hostile page reaches nothing of the daemon',
  },
  {
    id: 'F4 assets',
    text: 'An asset is found by its row in the manifest; any other path is 404.',
    proofs: {},
    missing: 'paths with dots, encodings, NUL, another case and other Unicode forms',
  },
  {
    id: 'F4 shares',
    text: 'An expired or withdrawn share is 404; content, assets and media support HEAD and Range.',
    proofs: {},
    missing: 'each 404; one range, its end, several, and one that cannot be satisfied',
  },
  {
    id: 'F5 name',
    text: 'name is searched literally, as a part and in any case.',
    proofs: {},
    missing: 'names with %, _, backslash and letters beyond ASCII',
  },
  {
    id: 'F5 dates',
    text: 'tz is an IANA name and a date YYYY-MM-DD; anything else is 422.',
    proofs: {},
    missing: 'offsets, abbreviations and days that do not exist',
  },
  {
    id: 'F6',
    text: 'Office Mode shares nothing; a page that is not on the board is missing from lists only.',
    proofs: {},
    missing: 'a hidden page by its key and by its share',
  },
  {
    id: 'F7 access',
    text: 'One manages one’s own pages by login token; an administrator everybody’s, also by an admin key or the control socket; other keys 403.',
    proofs: {},
    missing: 'each endpoint with each credential, for a page of one’s own and of others',
  },
  {
    id: 'F7 create',
    text: 'A page is created from a session or a task, with its defaults, and returned as its detail.',
    proofs: {},
    missing: 'the defaults; both sources, none, an unknown one, and one of others',
  },
  {
    id: 'F7 entry',
    text: 'An entry that is no plain file of the workspace is 422.',
    proofs: {
      'store/publishing/releases.test.ts': [
        'an entry that is no plain file of the workspace is refused, and leaves nothing: %s',
      ],
    },
  },
  {
    id: 'F7 versions',
    text: 'POST …/versions makes the next version, numbered from 1 without gaps.',
    proofs: {},
    missing: 'the numbers of many releases at once, and across kill -9',
  },
  {
    id: 'F7 shares',
    text: 'A share gets another end, or none, and is withdrawn for good.',
    proofs: {},
    missing: 'an end in the past, null, and a change after the withdrawal',
  },
  {
    id: 'F8 keys',
    text: 'A publish key is 16 random base62 characters, publish_center_id an integer.',
    proofs: {},
    missing: 'the form of keys, and the integer in events',
  },
  {
    id: 'F8 misses',
    text: 'Over 60 misses on codes and keys a minute from one address are 429 with Retry-After, before the look-up.',
    proofs: {},
    missing: 'the 61st miss, hits while it is limited, another address, and a minute later',
  },
  {
    id: 'F9 fields',
    text: 'A share and its metadata have exactly the decided fields; times are ISO 8601 where §2.13 asks for no other.',
    proofs: {},
    missing: 'both shapes',
  },
  {
    id: 'F9 media',
    text: 'Only a share of type media has `media`; every share has `content`.',
    proofs: {},
    missing: 'both, for each type',
  },
  {
    id: 'F10',
    text: 'A node of a tree has nine fields; a folder has children, a file has addresses.',
    proofs: {},
    missing: 'the shape',
  },
  {
    id: 'F11 folder',
    text: 'A version of a page has the entry’s folder; of media and files the entry alone; uploads and dot names are left out.',
    proofs: {
      'store/publishing/releases.test.ts': [
        'a page version holds the entry’s folder and all below it',
        'names that begin with a dot and attachments of others are left out: %s',
        'folders that are left out are passed over, however many files they have',
      ],
    },
  },
  {
    id: 'F11 limits',
    text: 'A version has at most publish.max_files files and publish.max_total_mb together.',
    proofs: {
      'store/publishing/releases.test.ts': [
        'a version over a limit is refused with the limit; one at the limit is not',
      ],
    },
  },
  {
    id: 'F12',
    text: 'A page of a task gets a version after each firing whose last step completed; a missing entry is a failed attempt.',
    proofs: {},
    missing: 'firings that complete, fail and are stopped, and an entry that appears too late',
  },
  {
    id: 'F13 paths',
    text: 'Trees show paths of the workspace; assets are relative to the entry’s folder and have the entry too.',
    proofs: {},
    missing: 'a page in a folder: its tree, its entry and a file below it',
  },
  {
    id: 'F13 order',
    text: 'Versions come newest first; a number that matches none gives an empty list; a release without changes is a version.',
    proofs: {},
    missing: 'each of them',
  },
  {
    id: 'F14',
    text: 'Automatic publishing tries at once, after 30 s and after 2 min, and reports a failure after the third attempt.',
    proofs: {},
    missing: 'the three attempts on a fake clock, across a restart, and the failed job',
  },
];
