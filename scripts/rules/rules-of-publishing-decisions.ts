// What the project decided about publish pages where §2.13 and §4.7 are silent (F1–F14).
import type { Rule } from './rule.ts';

export const RULES_OF_PUBLISHING_DECISIONS: readonly Rule[] = [
  {
    id: 'F1 source',
    text: 'A page is made from a session by hand, or by a scheduled task after each successful run.',
    proofs: {
      'acceptance/publishing/managing-pages.test.ts': [
        'a page is created with its defaults, and returned as its detail',
      ],
      'acceptance/publishing/publish-commands.test.ts': [
        'the page of a task has a version after a firing, and each change of its run is reported',
      ],
    },
  },
  {
    id: 'F1 copy',
    text: 'A version is an immutable copy: later runs, and the deletion of its session, change nothing of it.',
    proofs: {
      'store/publishing/releases.test.ts': [
        'a session that was deleted gives no version, and its versions stay',
        'a daemon killed while copying leaves nothing that anybody sees, and the draft goes at the next start',
        'a version of many files is copied in parts, and nobody sees it before the last',
      ],
      'acceptance/publishing/managing-pages.test.ts': [
        'a version outlives its session, which gets no further ones',
        'a version stays as it was when a later run changes and removes its files',
      ],
      'acceptance/publishing/publish-crash.test.ts': [
        'what was released is whole after kill -9, what was not is nowhere, and numbers have no gaps',
      ],
    },
  },
  {
    id: 'F1 codes',
    text: 'Every version has a share code of 22 base62 characters and its type.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['versions have exactly their fields, the newest first'],
      'acceptance/publishing/public-shares.test.ts': ['a share of %s has the type %s, content of %s, and media: %i'],
    },
  },
  {
    id: 'F2 pages',
    text: '`/share`, `/share/p/KEY` and `/share/CODE` are pages for people that work without JavaScript; distraction-free, the content is alone.',
    proofs: {
      'acceptance/publishing/share-pages.test.ts': [
        'everything but the convenience of the picker is there without a script',
        '%s: no complaint, no request elsewhere, nothing for axe-core, on any screen',
        'a version is chosen with the mouse, with the keyboard, and without any script',
        'the board is searched, and leads to a page',
        'a page is small, whatever it shows',
      ],
      'http/share/share-page.test.ts': [
        'who published it and when, in Beijing time, and what it is filed under',
        'HTML is framed at its own address in a sandbox that is not of this origin',
        'without distractions, there is the content and nothing else',
      ],
      'http/share/errors.test.ts': ['an address that leads nowhere is a page, and elsewhere still JSON'],
    },
  },
  {
    id: 'F3',
    text: 'Published bytes are sandboxed without the daemon’s origin, nosniff and without cookies; SVG and XML run no script.',
    proofs: {
      'http/public/contents.test.ts': [
        'an entry is its bytes, with every header that keeps it from acting as the daemon',
        '%s is sent as %s, under a policy of its kind',
      ],
      'acceptance/publishing/public-bytes.test.ts': [
        'bytes come with GET, and their headers with HEAD',
        'HTML, SVG and XML run nothing with the daemon’s origin',
      ],
      'acceptance/publishing/share-pages.test.ts': [
        'reaches nothing of the daemon, %s',
        '%s runs nothing at its own address',
        'in Markdown is taken out, and the page stays as it was',
      ],
    },
  },
  {
    id: 'F4 assets',
    text: 'An asset is found by its row in the manifest; any other path is 404.',
    proofs: {
      'acceptance/publishing/public-bytes.test.ts': [
        'bytes of the asset %s are %i',
        'bytes of an asset are those of its name',
      ],
      'http/public/contents.test.ts': [
        'a name in one normal form is not the same name in another',
        'odd names are found by their own address',
      ],
      'operations/publishing/public-pages.test.ts': ['an asset that is in no row of the manifest is not found: %j'],
    },
  },
  {
    id: 'F4 shares',
    text: 'An expired or withdrawn share is 404; content, assets and media support HEAD and Range.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'an expired share is not found in any of its forms, and comes back with a later end',
        'a withdrawal is for good, and the version before is the latest',
      ],
      'acceptance/publishing/public-bytes.test.ts': [
        'bytes of a range %s are %i',
        'bytes are not sent again to a reader that has them',
      ],
      'http/public/contents.test.ts': ['HEAD, ranges and conditions work for content, assets and media alike'],
    },
  },
  {
    id: 'F5 name',
    text: 'name is searched literally, as a part and in any case.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['the board with %s has %i'],
    },
  },
  {
    id: 'F5 dates',
    text: 'tz is an IANA name and a date YYYY-MM-DD; anything else is 422.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['versions with %s are %i'],
    },
  },
  {
    id: 'F6',
    text: 'Office Mode shares nothing; a page that is not on the board is missing from lists only.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': ['a page that is hidden from the board is read by its links'],
    },
  },
  {
    id: 'F7 access',
    text: 'One manages one’s own pages by login token; an administrator everybody’s, also by an admin key or the control socket; other keys 403.',
    proofs: {
      'acceptance/publishing/managing-pages.test.ts': [
        'one may $method one’s own, an administrator everybody’s, others 403',
        'lists have one’s own only, an administrator’s those of all',
        '%s %s of the management interface is not found',
      ],
      'operations/publishing/pages.test.ts': ['%s of another’s page is forbidden, and changes nothing'],
    },
  },
  {
    id: 'F7 create',
    text: 'A page is created from a session or a task, with its defaults, and returned as its detail.',
    proofs: {
      'acceptance/publishing/managing-pages.test.ts': [
        'a page is created with its defaults, and returned as its detail',
        'with %s no page is created',
        'of %s no page is created',
      ],
    },
  },
  {
    id: 'F7 entry',
    text: 'An entry that is not a plain file of the workspace is 422.',
    proofs: {
      'acceptance/publishing/managing-pages.test.ts': ['with %s no page is created'],
      'store/publishing/releases.test.ts': [
        'an entry that is not a plain file of the workspace is refused, and leaves nothing: %s',
      ],
    },
  },
  {
    id: 'F7 versions',
    text: 'POST …/versions makes the next version, numbered from 1 without gaps.',
    proofs: {
      'acceptance/publishing/managing-pages.test.ts': [
        'versions are numbered without gaps when many are released at once',
        'a release can begin with another file; one that is missing leaves all as it was',
      ],
      'acceptance/publishing/publish-crash.test.ts': [
        'what was released is whole after kill -9, what was not is nowhere, and numbers have no gaps',
      ],
    },
  },
  {
    id: 'F7 shares',
    text: 'A share gets another end, or none, and is withdrawn for good.',
    proofs: {
      'acceptance/publishing/managing-pages.test.ts': [
        'a share has its fields, and its end is changed',
        'an end of %j is 422',
      ],
      'operations/publishing/pages.test.ts': [
        'a share ends in the future, or never; a withdrawal is for good and may be repeated',
      ],
    },
  },
  {
    id: 'F8 keys',
    text: 'A publish key is 16 random base62 characters, publish_center_id an integer.',
    proofs: {
      'acceptance/publishing/managing-pages.test.ts': [
        'a page is created with its defaults, and returned as its detail',
      ],
      'webhooks/bodies-of-results.test.ts': ['publish_page.published, as a whole: of $origin'],
    },
  },
  {
    id: 'F8 misses',
    text: 'Over 60 misses on codes and keys a minute from one address are 429 with Retry-After, before the look-up.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'after sixty unknown codes in a minute an address gets 429, and others do not',
      ],
      'http/public/miss-limit.test.ts': [
        'after 60 unknown codes in a minute, nothing is looked up for the rest of it',
        'a file that a share lacks, and a share that has ended, don’t count as guesses',
      ],
    },
  },
  {
    id: 'F9 fields',
    text: 'A share and its metadata have exactly the decided fields; times are ISO 8601 where §2.13 asks for no other.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'a share has exactly its fields',
        'a share has exactly the decided metadata',
      ],
    },
  },
  {
    id: 'F9 media',
    text: 'Only a share of type media has `media`; every share has `content`.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': ['a share of %s has the type %s, content of %s, and media: %i'],
      'http/public/contents.test.ts': ['only images, audio and video are media'],
    },
  },
  {
    id: 'F10',
    text: 'A node of a tree has nine fields; a folder has children, a file has addresses.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'files have exactly the fields of a node, and addresses that open',
      ],
    },
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
      'acceptance/publishing/managing-pages.test.ts': [
        'an entry in uploads is taken, and so is one at the root, which has the rest of the workspace',
      ],
      'acceptance/publishing/public-shares.test.ts': [
        'files are a tree of the entry’s folder, without dot names and links',
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
    proofs: {
      'store/schedules/follow-runs.test.ts': [
        'the pages of a task get a job when all steps have completed, and none otherwise',
      ],
      'publishing/publisher.test.ts': [
        'each page of a task gets a version after a firing',
        'a missing entry is looked for three times in the same workspace; then publishing has failed',
        'an entry that is there at a later attempt is published',
      ],
      'acceptance/publishing/publish-commands.test.ts': [
        'the page of a task has a version after a firing, and each change of its run is reported',
      ],
    },
  },
  {
    id: 'F13 paths',
    text: 'Trees show paths of the workspace; assets are relative to the entry’s folder and have the entry too.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'files are a tree of the entry’s folder, without dot names and links',
      ],
      'acceptance/publishing/public-bytes.test.ts': ['bytes of the asset %s are %i'],
    },
  },
  {
    id: 'F13 order',
    text: 'Versions come newest first; a number that matches none gives an empty list; a release without changes is a version.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'versions have exactly their fields, the newest first',
        'versions with %s are those that it selects',
      ],
      'store/publishing/releases.test.ts': [
        'a release without changes is a version all the same, and the event has all its facts',
      ],
    },
  },
  {
    id: 'F14',
    text: 'Automatic publishing tries at once, after 30 s and after 2 min, and reports a failure after the third attempt.',
    proofs: {
      'publishing/publisher.test.ts': [
        'a missing entry is looked for three times in the same workspace; then publishing has failed',
        'attempts go on after the daemon was killed in between, and their number is kept',
      ],
    },
  },
];
