// The rules of §4.1, §4.5 and §4.6: tokens, look-ups of background runs, sessions.
import type { Rule } from './rule.ts';

const TOKENS = 'acceptance/administration/login-tokens.test.ts';
const LOG_IN = 'operations/people/log-in.test.ts';
const RULES = 'acceptance/conversations/rules.test.ts';
const TWO_TURNS =
  'two turns through the official clients: each run’s own files and the whole workspace, packed and fetched';
const LOOK_UPS = 'look-ups: 404 for anything but a background run, 403 for another key, 429 over ten a second';

export const RULES_OF_ENDPOINTS: readonly Rule[] = [
  {
    id: '§4.1 grants',
    text: 'password and sso_token take their credentials from the body, api_key from the Authorization header.',
    proofs: { 'http/management/token.test.ts': ['%j %j asks for exactly this'] },
  },
  {
    id: '§4.1 headers',
    text: 'Every answer, good or bad, says Cache-Control no-store and Pragma no-cache.',
    proofs: {
      'http/management/token.test.ts': [
        'a token is returned in its four fields, and is not cacheable',
        '$does, reported in the first shape and not cacheable',
        'a login that fails with %s is %i, not cacheable',
      ],
    },
  },
  {
    id: '§4.1 rule 1',
    text: 'A token is good for 24 hours, or less when the settings say so; the caller can not choose.',
    proofs: {
      'config/config.test.ts': [
        'without any source, every setting has its default, and that is its origin',
        'a validity of login tokens of %j stops the start',
        'login tokens may be valid for %i seconds',
      ],
      [TOKENS]: ['the validity follows the settings while the daemon runs, and an expired token is refused'],
    },
  },
  {
    id: '§4.1 rule 2',
    text: 'A single sign-on takes the account from the provider’s data.empNo, trusts no card, and makes a missing account with the defaults.',
    proofs: {
      'operations/people/sso.test.ts': [
        'the provider is asked once, by GET, with the token in the named parameter',
        'an empNo that is %s is the account',
      ],
      [LOG_IN]: ['an account that signs on for the first time is made with the defaults, once'],
      'http/management/token.test.ts': ['%j %j asks for exactly this'],
    },
  },
  {
    id: '§4.1 rule 3',
    text: 'A key of scope conversation gets no token, users need global and administrators admin; a token is its key’s owner’s and outlives the key.',
    proofs: {
      [LOG_IN]: [
        'role %s with a key of scope %s',
        'no key, a text that is none, a login token, an expired and a revoked key are 401; a disabled owner is 403',
        'a token outlives the key that it was issued for',
      ],
      [TOKENS]: ['keys give tokens by their scope, and the token outlives its key'],
    },
  },
  {
    id: '§4.1 rule 4',
    text: 'No log contains passwords or keys, and they are not read from addresses.',
    proofs: {
      [TOKENS]: ['neither log nor disk has a password, a token or the key that signs'],
      'http/checks.test.ts': ['each request gets a log line, and no line contains its key'],
    },
  },
  {
    id: '§4.5 which runs',
    text: 'A look-up finds background runs only: unknown and ordinary runs are 404, those of another key 403.',
    proofs: {
      'acceptance/conversations/background.test.ts': [LOOK_UPS],
      [RULES]: [
        'a look-up of an ordinary run is 404, of either protocol',
        '$method $path with $what is $status and changes nothing',
      ],
    },
  },
  {
    id: '§4.5 waiting',
    text: 'A run without a result is a Message with empty content, no stop reason, no usage, retry_after_ms 2000 and Retry-After 2.',
    proofs: {
      'acceptance/conversations/background.test.ts': [
        'a background run is accepted with 202, polled to its result, and found again by its key',
      ],
      [RULES]: ['ends a running background run as canceled, is already_stopped afterwards, and the session continues'],
    },
  },
  {
    id: '§4.5 completed',
    text: 'A completed run is the Message that an ordinary request would have got, with background_results added.',
    proofs: {
      'acceptance/conversations/background.test.ts': [
        'a background run is accepted with 202, polled to its result, and found again by its key',
      ],
      'acceptance/conversations/structured-output.test.ts': [
        'a background run has null while it is in progress, and its result when it has completed',
      ],
    },
  },
  {
    id: '§4.6 list',
    text: 'The list holds the api sessions of this key, the one changed last first, with the count of all.',
    proofs: {
      [RULES]: ['holds this key’s sessions, the one changed last first, with the count of all'],
      'store/sessions/sessions.test.ts': [
        "a key's sessions come with the one changed last first; other keys, kinds and deleted ones are left out",
        'a page of a hundred thousand sessions of one key is read from the index, the last one as well',
      ],
    },
  },
  {
    id: '§4.6 history',
    text: 'The history has messages with their blocks, previews and attachments.',
    proofs: {
      'http/conversations/conversation.test.ts': ['the history has blocks, tools and attachments in wire names'],
    },
  },
  {
    id: '§4.6 session artifacts',
    text: 'The files of a session can be listed and fetched as one archive.',
    proofs: {
      'http/artifacts.test.ts': ['the workspace is a tree in the order of its paths, whose ids stay the same'],
      'acceptance/agents/artifacts.test.ts': [TWO_TURNS],
    },
  },
  {
    id: '§4.6 run artifacts',
    text: "The files that one run added or changed can be listed and fetched as one archive; only the key's owner's runs.",
    proofs: {
      'http/artifacts.test.ts': [
        'a run’s artifacts have the shape of the specification, and every address leads to its bytes',
        '%s (%s) gets %i',
        'another user’s are refused',
      ],
      'acceptance/agents/artifacts.test.ts': [TWO_TURNS],
    },
  },
  {
    id: '§4.6 stop',
    text: 'A stop has no body; an absent session is 404, one of another user 403.',
    proofs: {
      [RULES]: [
        '$method $path with $what is $status and changes nothing',
        'ends a running background run as canceled, is already_stopped afterwards, and the session continues',
      ],
      'acceptance/conversations/stop.test.ts': [
        'waiting runs of the session end with the running one, and the session continues afterwards',
        'a stop holds through a kill in the same moment, and the session can be continued',
      ],
    },
  },
  {
    id: '§4.6 delete',
    text: 'A deleted session starts no further turn, and what it held is cleaned up in the background.',
    proofs: {
      [RULES]: [
        'a deleted session starts no further turn and is reported as scheduled for clean-up',
        'a background key of a deleted session is 404 and creates no second run',
      ],
      'acceptance/conversations/delete.test.ts': [
        'a deleted session is 404 everywhere; its workspace and its own blobs go, those of others stay',
        'a clean-up survives kills at any moment, and follows no link out',
      ],
    },
  },
  {
    id: '§4.6 capability configuration',
    text: 'What a session may use can be read by its key.',
    proofs: {
      [RULES]: [
        '$method $path with $what is $status and changes nothing',
        'HEAD %s has the headers of GET and no body',
      ],
      'acceptance/agents/definitions.test.ts': [
        "a key's target decides who answers, and the session returns what its agents may use",
        'in free mode the key decides; what is changed of it counts for new sessions only',
      ],
      'execution/brief/equip.test.ts': [
        'a connection that failed may work again and stays; one that was revoked is left out of the next run',
        "another user's connection is not granted",
      ],
    },
  },
];
