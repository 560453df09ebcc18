// The rules of §4.3 and §4.4: the Messages endpoint and structured output.
import type { Rule } from './rule.ts';

const BACKGROUND = 'acceptance/conversations/background.test.ts';
const LIMITS = 'acceptance/conversations/limits.test.ts';
const RULES = 'acceptance/conversations/rules.test.ts';
const STRUCTURED = 'acceptance/conversations/structured-output.test.ts';
const ROUND_TRIP = 'a background run is accepted with 202, polled to its result, and found again by its key';

export const RULES_OF_MESSAGES: readonly Rule[] = [
  {
    id: '§4.3 parameters',
    text: 'Parameters are read strictly; those kept for compatibility are taken and have no effect.',
    proofs: {
      [LIMITS]: ['%s: every refusal has its status and shape, and leaves no row and no file'],
      'http/conversations/turn-wire.test.ts': [
        '%s takes unknown fields, nulls for absent ones, and a session id in lower case',
      ],
    },
  },
  {
    id: '§4.3 last user message',
    text: 'Only the last user message is the input of the turn.',
    proofs: {
      'http/conversations/turn-wire.test.ts': ['%s takes only the last user message, and ignores what surrounds it'],
    },
  },
  {
    id: '§4.3 sources',
    text: 'Images and files come as Base64, data URL or stored attachment, images by web address too, files not.',
    proofs: {
      'http/conversations/turn-wire.test.ts': [
        '%s reads files from base64, data URLs and stored paths, whatever their type says',
        'images are read in each protocol in its own form',
        '%s refuses %j',
        'images by web address are read in each protocol in its own form, to be fetched later',
      ],
    },
  },
  {
    id: '§4.3 rule 1',
    text: 'An image at a web address is fetched at acceptance within 60 s and the size limit, or the request is refused and makes no run.',
    proofs: {
      'http/image-addresses.test.ts': [
        'an image is fetched when the turn is accepted, and is its attachment',
        'when the server %s there is no run, no session and no file',
        'a file by web address is 422, and nothing is fetched',
        'a server that does not answer in time is 400',
      ],
      'outbound/hostile-addresses.test.ts': ['%s is refused before anything is connected to'],
    },
  },
  {
    id: '§4.3 rule 2',
    text: 'A repeated first request finds its run by user, key, target and idempotency key; a repeated continuation by session and idempotency key.',
    proofs: {
      'store/runs/runs.test.ts': [
        'an idempotency key finds its run: first requests per key and target, continuations per session',
      ],
      [LIMITS]: [
        'with the same key finds the same run: its answer, its session, and no second model call',
        'keys are distinguished by user key, by session, and from the key that opened it',
      ],
    },
  },
  {
    id: '§4.3 rule 3',
    text: 'A background key finds its run for the whole API key, whatever the session and the body say.',
    proofs: {
      'store/background.test.ts': [
        'background keys are unique per API key, whatever the session, and separate from those of ordinary requests',
      ],
      'acceptance/faults/background-crash.test.ts': [
        'forty submissions through four kills: each key finds its one run, and each run ends once',
      ],
      [RULES]: ['keys are each key’s own: the same words from another key are another run'],
    },
  },
  {
    id: '§4.3 rule 4',
    text: 'Background needs no stream, an idempotency key, and a payload, if any, in standard Base64.',
    proofs: { [RULES]: ['with %s is 422, names the field and makes no run'] },
  },
  {
    id: '§4.3 rule 5',
    text: 'A background run needs a session without unfinished runs; ordinary requests then wait behind it.',
    proofs: {
      'store/background.test.ts': ['a session with an unfinished run takes no background run'],
      [BACKGROUND]: ['over the limits: 409 for a busy session, then 429 for the key, each with no run made'],
      'store/runs/runs.test.ts': [
        'a second turn of a session waits for the first, and is claimable once that has ended',
      ],
    },
  },
  {
    id: '§4.3 rule 6',
    text: 'A background submission is 202 with ids, no content and Retry-After; its repetition returns the current state and finally the result.',
    proofs: { [BACKGROUND]: [ROUND_TRIP] },
  },
  {
    id: '§4.3 rule 7',
    text: 'An ordinary request without a stream is 200 with a Message and the ids of session and run.',
    proofs: {
      'acceptance/conversations/anthropic-client.test.ts': [
        'a message has the answer, the usage, the echoed model and the ids of its session and run',
      ],
    },
  },
  {
    id: '§4.3 rule 8',
    text: 'A key runs free, as an expert, or as an expert team; a team’s session keeps the orchestration of its start.',
    proofs: {
      'acceptance/agents/definitions.test.ts': [
        "a key's target decides who answers, and the session returns what its agents may use",
        'a team is kept with its session: a changed file counts for new sessions only',
      ],
      'execution/brief/equip.test.ts': ['a team works as it was when the session was opened, even if its files change'],
    },
  },
  {
    id: '§4.3 stream',
    text: 'A stream has the named events in the official order, text by block index, and ends at message_stop or error.',
    proofs: {
      'http/conversations/run-stream.test.ts': [
        'a Messages stream is the official one, each event with its journal id',
        'a failure ends each stream with its error and no normal end',
      ],
      'http/conversations/live-streams.test.ts': [
        'a ping comes after ten silent seconds, not before, and carries the last id',
      ],
      'acceptance/conversations/anthropic-client.test.ts': ["the client's accumulator puts the stream together"],
    },
  },
  {
    id: '§4.4 rule 1',
    text: 'Structured output is for Messages only, and each turn brings its own schema.',
    proofs: {
      [STRUCTURED]: [
        'the field is there exactly when a schema was, and a schema counts for its own turn only',
        'the chat endpoint takes no notice of the field',
      ],
    },
  },
  {
    id: '§4.4 rule 2',
    text: 'The schema is Draft-07 with local references; words of other drafts are refused, format is not enforced.',
    proofs: {
      'domain/schema/output-schema.test.ts': ['refused: %s', '%s is refused at every position of a schema'],
      'agent/result/result-schema.test.ts': ['$schema'],
      [RULES]: ['with %s is 422, names the field and makes no run'],
    },
  },
  {
    id: '§4.4 rule 3',
    text: 'The agent may use tools first; a result that does not fit is corrected within the run, and none that does not fit is given out.',
    proofs: {
      'agent/structured-run.test.ts': [
        'a result that does not fit is answered with its paths, and the corrected one is taken',
        'other tools run as ever and count as no correction',
        'after three corrections the run is incomplete, and no value leaves it',
      ],
    },
  },
  {
    id: '§4.4 rule 4',
    text: 'The result is in structured_output and keeps the raw type of the schema’s root, whatever it is.',
    proofs: {
      [STRUCTURED]: ['reads a result next to an empty content', 'a result of type %s keeps its raw type in both forms'],
    },
  },
  {
    id: '§4.4 rule 5',
    text: 'In a stream the result event comes just before message_stop.',
    proofs: {
      [STRUCTURED]: [
        'a stream has its ordinary events, message_delta, the result, message_stop, and nothing else',
        'reads a stream to its end, with the result just before message_stop',
      ],
    },
  },
  {
    id: '§4.4 rule 6',
    text: 'In the background the field is null until the run has completed, then the result.',
    proofs: {
      [STRUCTURED]: ['a background run has null while it is in progress, and its result when it has completed'],
    },
  },
];
