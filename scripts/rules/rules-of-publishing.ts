// The rules of publish pages: §2.13, §4.7, and what §6.5 and §7 say of them.
import type { Rule } from './rule.ts';

export const RULES_OF_PUBLISHING: readonly Rule[] = [
  {
    id: '§2.13 envelope',
    text: 'A result is `{code: 0, message, data}`, also of the public endpoints.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'has exactly the fields of an item, with times in Beijing time',
        'the detail of %s is not found, in the shape of the envelope',
      ],
    },
  },
  {
    id: '§2.13 list item',
    text: 'An item has exactly its nine fields; its times are `YYYY-MM-DD HH:mm:ss` in Beijing time; its owner has three fields.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['has exactly the fields of an item, with times in Beijing time'],
      'http/public/pages.test.ts': ['the list has exactly the fields of the contract, with times of Beijing'],
      'domain/publishing/public-time.test.ts': ['%s is %s in Beijing'],
    },
  },
  {
    id: '§2.13 detail',
    text: 'A detail has exactly its thirteen fields; description, category and workspace_file are null when there are none, and the others keep what was last known.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'a detail has exactly its fields, and the entry of its latest version',
        'the detail of a page without description and category, and not on the board',
      ],
      'http/public/pages.test.ts': [
        'a page whose versions have all ended keeps what was last known of them but the file, and is not on the board',
      ],
      'acceptance/publishing/public-shares.test.ts': [
        'an expired share is not found in any of its forms, and comes back with a later end',
      ],
    },
  },
  {
    id: '§2.13 workspace file',
    text: 'It is the entry file of the latest valid version: an older one when the latest was withdrawn or has expired, null without any.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'a detail has exactly its fields, and the entry of its latest version',
      ],
      'acceptance/publishing/public-shares.test.ts': [
        'an expired share is not found in any of its forms, and comes back with a later end',
        'a withdrawal is for good, and the version before is the latest',
      ],
    },
  },
  {
    id: '§2.13 version',
    text: 'A version has exactly its five fields, and one of them is the latest.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['versions have exactly their fields, the newest first'],
      'acceptance/publishing/public-shares.test.ts': ['a withdrawal is for good, and the version before is the latest'],
    },
  },
  {
    id: '§4.7 no credential',
    text: 'The endpoints read no credential: a wrong, expired or doubled one changes nothing.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'no credential is read: wrong, doubled and foreign ones change nothing',
      ],
    },
  },
  {
    id: '§4.7 list',
    text: 'The board has pages that are shown on it and not deleted; account and category match exactly.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['the board with %s has %i', 'the board refuses %s'],
      'acceptance/publishing/public-shares.test.ts': [
        'a page that is hidden from the board is read by its links',
        'a page is deleted with all its versions',
      ],
    },
  },
  {
    id: '§4.7 detail',
    text: 'The detail of any page that is not deleted, on the board or not; of others 404.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'the detail of a page without description and category, and not on the board',
        'the detail of %s is not found, in the shape of the envelope',
      ],
      'acceptance/publishing/public-shares.test.ts': ['a page is deleted with all its versions'],
    },
  },
  {
    id: '§4.7 versions',
    text: 'limit is 50 at first and from 1 to 200, offset from 0, version_no from 1; anything else is 422 and is never clamped.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'versions with %s are those that it selects',
        'versions with %s are %i',
      ],
      'operations/publishing/public-pages.test.ts': ['two hundred versions are read in pages, by number and by time'],
    },
  },
  {
    id: '§4.7 dates',
    text: 'A date is a day in `tz`, which is UTC when none is given; date_to is inclusive; either end of a range may be absent.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['versions of today, and of no other day, in %s'],
      'http/public/pages.test.ts': [
        'versions are found by number and by days of a zone, and nothing is guessed of a query',
      ],
      'operations/publishing/public-pages.test.ts': ['two hundred versions are read in pages, by number and by time'],
    },
  },
  {
    id: '§4.7 date with a range',
    text: 'date together with date_from or date_to is 400, and so is a reversed range.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'versions with %s are %i',
        'versions of today, and of no other day, in %s',
      ],
    },
  },
  {
    id: '§4.7 files',
    text: 'The files of a version are a tree whose folders have children; of an unknown, expired or withdrawn version 404.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'files are a tree of the entry’s folder, without dot names and links',
        'files of version %s are 404',
        'an expired share is not found in any of its forms, and comes back with a later end',
      ],
    },
  },
  {
    id: '§4.7 share',
    text: 'A share has its resource with workspace_file, and its metadata.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'a share has exactly its fields',
        'a share has exactly the decided metadata',
      ],
    },
  },
  {
    id: '§4.7 content',
    text: 'content, assets and media answer GET and HEAD with the bytes and never with the envelope.',
    proofs: {
      'acceptance/publishing/public-bytes.test.ts': ['bytes come with GET, and their headers with HEAD'],
      'acceptance/publishing/public-shares.test.ts': ['a share of %s has the type %s, content of %s, and media: %i'],
      'http/public/contents.test.ts': [
        'an entry is its bytes, with every header that keeps it from acting as the daemon',
        'HEAD, ranges and conditions work for content, assets and media alike',
      ],
    },
  },
  {
    id: '§4.7 checks',
    text: 'A share is checked for its type, its validity and its file: media of anything else, an expired share and a lost file are 404.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': [
        'a share of %s has the type %s, content of %s, and media: %i',
        'an expired share is not found in any of its forms, and comes back with a later end',
        'a withdrawal is for good, and the version before is the latest',
      ],
      'operations/publishing/public-pages.test.ts': [
        'an expired share is not found from its end on, and the version before is the latest again',
      ],
      'http/public/contents.test.ts': [
        'a file whose bytes are gone is 404 and one line of the log, and the rest of the share works',
      ],
    },
  },
  {
    id: '§4.7 board display',
    text: 'Hiding a page from the board leaves its links as they are.',
    proofs: {
      'acceptance/publishing/public-shares.test.ts': ['a page that is hidden from the board is read by its links'],
    },
  },
  {
    id: '§6.5 publish_page.published',
    text: 'A new version is reported with its page, its version and its session; occurred_at is the publish time, published_url `/share/p/KEY`.',
    proofs: {
      'webhooks/bodies-of-results.test.ts': ['publish_page.published, as a whole: of $origin'],
      'store/publishing/releases.test.ts': [
        'a release without changes is a version all the same, and the event has all its facts',
      ],
      'acceptance/publishing/publish-commands.test.ts': [
        'a page is created, shown, released, expired, revoked and deleted, and each version is reported once',
      ],
      'acceptance/publishing/publish-crash.test.ts': [
        'what was released is whole after kill -9, what was not is nowhere, and numbers have no gaps',
      ],
    },
  },
  {
    id: '§6.5 publish_page.failed',
    text: 'Automatic publishing that failed is reported with its page, its job and its error.',
    proofs: {
      'webhooks/bodies-of-results.test.ts': ['publish_page.failed, as a whole: job %s'],
    },
  },
];
