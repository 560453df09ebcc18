// The rules of publish pages: §2.13, §4.7, and what §6.5 and §7 say of them.
import type { Rule } from './rule.ts';

export const RULES_OF_PUBLISHING: readonly Rule[] = [
  {
    id: '§2.13 envelope',
    text: 'A result is `{code: 0, message, data}`, also of the public endpoints.',
    proofs: {},
    missing: 'each public read returns the envelope, and a refusal has its status as code and data null',
  },
  {
    id: '§2.13 list item',
    text: 'An item has exactly its nine fields; its times are `YYYY-MM-DD HH:mm:ss` in Beijing time; its owner has three fields.',
    proofs: {},
    missing: 'the shape, and a time shortly before a new day in UTC that is the next day in Beijing',
  },
  {
    id: '§2.13 detail',
    text: 'A detail has exactly its thirteen fields; description, category and workspace_file are null when there are none.',
    proofs: {},
    missing: 'the shape, of a page with all of them and of a page with none',
  },
  {
    id: '§2.13 workspace file',
    text: 'It is the entry file of the latest valid version: an older one when the latest was withdrawn or has expired, null without any.',
    proofs: {},
    missing: 'the file after a withdrawal and after an expiry; its addresses, which need no credential',
  },
  {
    id: '§2.13 version',
    text: 'A version has exactly its five fields, and one of them is the latest.',
    proofs: {},
    missing: 'the shape, and which version is the latest',
  },
  {
    id: '§4.7 no credential',
    text: 'The endpoints read no credential: a wrong, expired or doubled one changes nothing.',
    proofs: {},
    missing: 'each endpoint with each kind of credential returns what it returns without one',
  },
  {
    id: '§4.7 list',
    text: 'The board has pages that are shown on it and not deleted; account and category match exactly.',
    proofs: {},
    missing: 'the list with and without each parameter, of hidden and deleted pages, and in another case',
  },
  {
    id: '§4.7 detail',
    text: 'The detail of any page that is not deleted, on the board or not; of others 404.',
    proofs: {},
    missing: 'the detail of a hidden page, of a deleted one, and of keys that are none',
  },
  {
    id: '§4.7 versions',
    text: 'limit is 50 at first and from 1 to 200, offset from 0, version_no from 1; anything else is 422 and is never clamped.',
    proofs: {},
    missing: 'each limit and one beyond it, and a page of 200 versions',
  },
  {
    id: '§4.7 dates',
    text: 'A date is a day in `tz`, which is UTC when none is given; date_to is inclusive; either end of a range may be absent.',
    proofs: {},
    missing: 'a version at both ends of a day, in UTC, in Shanghai and on a day that a clock change shortens',
  },
  {
    id: '§4.7 date with a range',
    text: 'date together with date_from or date_to is 400, and so is a reversed range.',
    proofs: {},
    missing: 'both, and a range of one day, which is neither',
  },
  {
    id: '§4.7 files',
    text: 'The files of a version are a tree whose folders have children; of an unknown, expired or withdrawn version 404.',
    proofs: {},
    missing: 'the tree of a folder in folders, and each 404',
  },
  {
    id: '§4.7 share',
    text: 'A share has its resource with workspace_file, and its metadata.',
    proofs: {},
    missing: 'both shapes, for each type of share',
  },
  {
    id: '§4.7 content',
    text: 'content, assets and media answer GET and HEAD with the bytes and never with the envelope.',
    proofs: {},
    missing: 'the bytes and headers of each, for each type of share, with GET and HEAD',
  },
  {
    id: '§4.7 checks',
    text: 'A share is checked for its type, its validity and its file: media of anything else, an expired share and a lost file are 404.',
    proofs: {},
    missing: 'each check, at the moment of expiry too, and that other files of the share still open',
  },
  {
    id: '§4.7 board display',
    text: 'Hiding a page from the board leaves its links as they are.',
    proofs: {},
    missing: 'a share, its content and the page’s detail after the page is hidden',
  },
  {
    id: '§6.5 publish_page.published',
    text: 'A new version is reported with its page, its version and its session; occurred_at is the publish time, published_url `/share/p/KEY`.',
    proofs: {
      'webhooks/bodies-of-results.test.ts': ['publish_page.published, as a whole: of $origin'],
      'store/publishing/releases.test.ts': [
        'a release without changes is a version all the same, and the event has all its facts',
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
