// The rules of §5, §7 and §8: credentials, errors, limits.
import type { Rule } from './rule.ts';

const RULES = 'acceptance/conversations/rules.test.ts';
const BACKGROUND = 'acceptance/conversations/background.test.ts';
const STORED = 'store/background.test.ts';
const NODES = 'execution/queue/node.test.ts';
const WAITS = 'execution/queue/queue-wait.test.ts';
const CHECKS = 'http/checks.test.ts';
const REFUSALS = '$path: $does';
const LOOK_UPS = 'look-ups: 404 for anything but a background run, 403 for another key, 429 over ten a second';
const NO_TRACE = '%s: every refusal has its status and shape, and leaves no row and no file';
const BACKGROUND_FIELDS = 'with %s is 422, names the field and makes no run';
const IMAGES = 'http/image-addresses.test.ts';
const NO_IMAGE = 'when the server %s there is no run, no session and no file';

export const RULES_OF_EDGES: readonly Rule[] = [
  {
    id: '§5 credentials',
    text: 'Conversations, sessions and runs take a Bearer key or x-api-key; the token endpoint needs none, the management API only Bearer.',
    proofs: { [CHECKS]: [REFUSALS], 'http/routes.test.ts': ['%s lets exactly its callers pass'] },
  },
  {
    id: '§5 rule 1',
    text: 'A key has a scope, a model (its own, or its owner’s by scenario) and an execution target.',
    proofs: {
      'acceptance/administration/first-run.test.ts': [
        'scopes open what they should: every key talks to the agent, only an administrator administers',
        "a key's own model stays; automatic follows the owner's scenario, else the default one",
      ],
      'acceptance/agents/definitions.test.ts': [
        "a key's target decides who answers, and the session returns what its agents may use",
      ],
    },
  },
  {
    id: '§5 rule 2',
    text: 'Office Mode needs an admin key whose owner is an administrator now.',
    proofs: {
      'acceptance/administration/first-run.test.ts': [
        "an administrator's key administers only as long as its owner is an administrator",
      ],
      'http/routes.test.ts': ['%s lets exactly its callers pass'],
      'http/office/refusals.test.ts': ['%s accepts an admin key of an administrator, as a Bearer, and nothing else'],
    },
  },
  {
    id: '§5 rule 3',
    text: 'A key reaches its owner’s data only, and a session is for the key that opened it.',
    proofs: {
      [RULES]: [
        '$method $path with $what is $status and changes nothing',
        '$what is $status before anything begins: $path $mode',
      ],
      'acceptance/conversations/limits.test.ts': ["another user's attachment is not found"],
    },
  },
  {
    id: '§5 rule 4',
    text: 'Tokens are not refreshed: an expired one is refused, and the grant is repeated.',
    proofs: { 'operations/people/login-tokens.test.ts': ['a token is good to its last moment and no longer'] },
  },
  {
    id: '§5 rule 5',
    text: 'A missing or invalid key is 401, a disabled user or a scope that is too small 403.',
    proofs: {
      [RULES]: ['a revoked key is 401 and a disabled user 403 at every endpoint, before any stream'],
      'http/routes.test.ts': ['%s lets exactly its callers pass'],
    },
  },
  {
    id: '§5 rule 6',
    text: 'Webhook deliveries are signed.',
    proofs: {
      'webhooks/sign.test.ts': ['the reference receiver verifies every body with %s'],
      'webhooks/attempt.test.ts': ['a receiver gets the exact bytes, and the headers of the specification'],
      'acceptance/webhooks/webhooks.test.ts': [
        'a delivery is verified by its receiver, tried again, and survives kills of the daemon',
      ],
    },
  },
  {
    id: '§7 shapes',
    text: 'Errors have the shape of their group: chat its own, the others type and error, streams an error event.',
    proofs: {
      [CHECKS]: [REFUSALS, 'a refusal %s of an operation is a %i in each shape'],
      [RULES]: ['%s is 404 in the shape of its prefix, with or without a key'],
      'http/conversations/run-stream.test.ts': ['a failure ends each stream with its error and no normal end'],
    },
  },
  {
    id: '§7 types',
    text: 'Each status has its error type.',
    proofs: { [CHECKS]: [REFUSALS, 'a refusal %s of an operation is a %i in each shape'] },
  },
  {
    id: '§7 token statuses',
    text: 'The token endpoint answers 400, 401, 403, 422 and 502 as the fault is.',
    proofs: {
      'http/management/token.test.ts': [
        'a login that fails with %s is %i, not cacheable',
        '$does, reported in the first shape and not cacheable',
      ],
      'acceptance/administration/login-tokens.test.ts': ['the SSO token %s for %s is %i'],
    },
  },
  {
    id: '§7 no key',
    text: 'A missing or invalid key is 401 before any stream.',
    proofs: {
      'acceptance/conversations/limits.test.ts': [NO_TRACE],
      [RULES]: ['a revoked key is 401 and a disabled user 403 at every endpoint, before any stream'],
    },
  },
  {
    id: '§7 fields',
    text: 'Invalid fields and another output_format type are 422 before any stream.',
    proofs: { 'acceptance/conversations/limits.test.ts': [NO_TRACE], [RULES]: [BACKGROUND_FIELDS] },
  },
  {
    id: '§7 session absent',
    text: 'A turn in an unknown session is 404.',
    proofs: { [RULES]: ['$what is $status before anything begins: $path $mode'] },
  },
  {
    id: '§7 session of others',
    text: 'A turn in a session of another user or another key is 403.',
    proofs: { [RULES]: ['$what is $status before anything begins: $path $mode'] },
  },
  {
    id: '§7 image address',
    text: 'An image that can not be fetched is 400.',
    proofs: { [IMAGES]: [NO_IMAGE, 'an image at %s is 400', 'a server that does not answer in time is 400'] },
  },
  {
    id: '§7 image size',
    text: 'An image over the size limit is 413 and makes no run.',
    proofs: {
      'http/conversations/turn-wire.test.ts': [
        '%s takes an attachment of exactly the limit, and refuses one byte more with 413',
      ],
      'acceptance/conversations/limits.test.ts': [NO_TRACE],
      [IMAGES]: [NO_IMAGE, 'images that are too much together are 413'],
    },
  },
  {
    id: '§7 look-up 404',
    text: 'A look-up of an unknown or ordinary run is 404.',
    proofs: { [BACKGROUND]: [LOOK_UPS], [RULES]: ['a look-up of an ordinary run is 404, of either protocol'] },
  },
  {
    id: '§7 look-up 403',
    text: 'A look-up with another key is 403.',
    proofs: { [BACKGROUND]: [LOOK_UPS], [RULES]: ['$method $path with $what is $status and changes nothing'] },
  },
  {
    id: '§7 look-up 429',
    text: 'Look-ups over 10 a second for one key are 429 with Retry-After 1.',
    proofs: {
      [BACKGROUND]: [LOOK_UPS],
      'operations/people/poll-rate.test.ts': [
        'ten look-ups pass at once, the eleventh does not, and each key has its own',
      ],
    },
  },
  {
    id: '§7 queue full',
    text: 'A full background queue, or no worker, is 503.',
    proofs: {
      [STORED]: [
        'the queue has ten places for each run that the online nodes can execute at once',
        'without a node online nothing is admitted',
      ],
      [NODES]: [
        'a node whose beats stop is offline after thirty seconds, whatever the wall clock says, and a beat brings it back',
      ],
      [CHECKS]: ['a refusal %s of an operation is a %i in each shape'],
    },
  },
  {
    id: '§7 queue time-out',
    text: 'A run that was queued too long is failed with queue_timeout_error.',
    proofs: {
      [STORED]: ['background runs that wait too long fail, up to the newest of them, and later ones wait on'],
      [WAITS]: ['each run has its whole wait, also one that came while another waited, whatever the wall clock says'],
    },
  },
  {
    id: '§7 stop absent',
    text: 'A stop of an absent session is 404.',
    proofs: { [RULES]: ['$method $path with $what is $status and changes nothing'] },
  },
  {
    id: '§7 stop of others',
    text: 'A stop of another user’s session is 403.',
    proofs: { [RULES]: ['$method $path with $what is $status and changes nothing'] },
  },
  {
    id: '§7 result unfit',
    text: 'A result that does not fit the schema is a 500 api_error, in a stream an error event and its end.',
    proofs: {
      'acceptance/conversations/structured-output.test.ts': [
        'a run without a fitting result is incomplete: 500 without a stream, an error event with one',
      ],
    },
  },
  {
    id: '§7 wait time-out',
    text: 'A request that waits too long is 504 with Retry-After 5.',
    proofs: {
      'acceptance/conversations/limits.test.ts': [
        'a request that waits longer than it may gets 504 and can collect its answer later',
      ],
    },
  },
  {
    id: '§7 reversed range',
    text: 'A reversed date range of public versions is 400.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': ['versions with %s are %i'],
    },
  },
  {
    id: '§8 token validity',
    text: '86400 s, and less by a setting.',
    proofs: { 'config/config.test.ts': ['login tokens may be valid for %i seconds'] },
  },
  {
    id: '§8 limit of the list',
    text: 'limit is 100 at first and from 1 to 500.',
    proofs: {
      [RULES]: [
        '%s is 422 and names the field',
        'has a hundred at first, takes 1 to 500, any offset, and unknown fields',
      ],
    },
  },
  {
    id: '§8 offset of the list',
    text: 'offset is 0 at first and not negative.',
    proofs: {
      [RULES]: [
        '%s is 422 and names the field',
        'has a hundred at first, takes 1 to 500, any offset, and unknown fields',
      ],
    },
  },
  {
    id: '§8 payload',
    text: 'background_payload has at most 8192 characters and comes back as it was.',
    proofs: { [RULES]: [BACKGROUND_FIELDS, 'with %s is taken, and all comes back as it was sent'] },
  },
  {
    id: '§8 idempotency key',
    text: 'idempotency_key has at most 128 characters.',
    proofs: {
      [RULES]: [BACKGROUND_FIELDS, 'with %s is taken, and all comes back as it was sent'],
      'http/conversations/turn-wire.test.ts': ['the Messages protocol keeps an idempotency key of 128 code points'],
    },
  },
  {
    id: '§8 unfinished per key',
    text: 'A key has at most 20 unfinished background runs.',
    proofs: {
      [STORED]: ['a hundred parallel submitters never get more than the 20 places of a key'],
      [BACKGROUND]: ['over the limits: 409 for a busy session, then 429 for the key, each with no run made'],
    },
  },
  {
    id: '§8 executing per key',
    text: 'A key has at most 2 background runs executing.',
    proofs: { [STORED]: ['ordinary runs are claimed first; of a key no more than two background runs execute'] },
  },
  {
    id: '§8 unfinished per user',
    text: 'All keys of a user together have at most 50 unfinished background runs.',
    proofs: { [STORED]: ['all keys of a user together get no more than 50 places'] },
  },
  {
    id: '§8 global queue',
    text: 'The background queue has ten places for each free slot of the nodes online, and 5 slots count while none ever registered.',
    proofs: {
      [STORED]: ['the queue has ten places for each run that the online nodes can execute at once'],
      [NODES]: ['without a node that ever registered there is the capacity of five'],
    },
  },
  {
    id: '§8 queue wait',
    text: 'A background run waits at most 3600 s.',
    proofs: {
      [STORED]: ['background runs that wait too long fail, up to the newest of them, and later ones wait on'],
      [WAITS]: ['each run has its whole wait, also one that came while another waited, whatever the wall clock says'],
    },
  },
  {
    id: '§8 scope of these limits',
    text: 'They are for background runs only.',
    proofs: { [STORED]: ['ordinary requests are under none of these limits and count for none'] },
  },
  {
    id: '§8 polling',
    text: '10 look-ups a second for each key, every 2000 ms by advice.',
    proofs: {
      'operations/people/poll-rate.test.ts': [
        'ten look-ups pass at once, the eleventh does not, and each key has its own',
        'the bucket fills with time, never over its brim, and a jump of the wall clock fills nothing',
      ],
    },
  },
  {
    id: '§8 image download',
    text: 'An image is fetched within 60 s.',
    proofs: { [IMAGES]: ['a server that does not answer in time is 400'] },
  },
  {
    id: '§8 attachment size',
    text: 'An attachment is at most MAX_UPLOAD_SIZE_MB.',
    proofs: {
      'http/conversations/turn-wire.test.ts': [
        '%s takes an attachment of exactly the limit, and refuses one byte more with 413',
      ],
    },
  },
  {
    id: '§8 stop window',
    text: 'An unconfirmed stop is tried again after 5 s at the earliest.',
    proofs: {
      'execution/queue/stop.test.ts': [
        'within five seconds after an unconfirmed cancel is stopping and changes nothing',
        'more than five seconds after it asks the executor again and is %s',
      ],
    },
  },
  {
    id: '§8 Office Mode',
    text: 'Its limits of pages and rows.',
    proofs: {
      'http/office/refusals.test.ts': [
        '%s refuses what is out of range, of another type or there twice, and clamps nothing',
      ],
      'http/office/sessions.test.ts': ['a page of %s may have %i'],
    },
  },
  {
    id: '§8 public versions',
    text: 'Their limits of pages.',
    proofs: {
      'acceptance/publishing/public-pages.test.ts': [
        'versions with %s are those that it selects',
        'versions with %s are %i',
      ],
    },
  },
];
