// The rules of Office Mode: §2.14, §4.8 and §6.1.
import type { Rule } from './rule.ts';

const SCENARIOS = 'store/office/team-rules.test.ts';
const SNAPSHOT = 'store/office/snapshot.test.ts';
const TODAY = 'store/office/today.test.ts';
const REFUSALS = 'http/office/refusals.test.ts';
const HOUSE = 'http/office/house.test.ts';
const SESSIONS = 'http/office/sessions.test.ts';
const SESSION_RUNS = 'http/office/session-runs.test.ts';
const STREAMS = 'http/office/streams.test.ts';
const LEDGER = 'store/runs/progress/record-usage.test.ts';
const KILLED = 'acceptance/office/watching.test.ts';
const CROWD = 'acceptance/office/crowd.test.ts';
const THE_PAST = '%s brings the past, exactly as stream-events has it, and then the present';
const ACROSS_KILLS = 'watchers of a session and of a run miss nothing and see nothing twice across kill -9';

export const RULES_OF_OFFICE: readonly Rule[] = [
  {
    id: '§2.14 shapes',
    text: 'Every record of Office Mode has exactly its fields.',
    proofs: {
      'wire/office/office.test.ts': [
        'every shape of Office Mode reads its example as it is, and refuses the same without one of its fields',
      ],
      [HOUSE]: ['of an empty house has its teams, and nothing else', 'are rows with what their session used today'],
      [SESSIONS]: ['detail has sums, every message and every run, oldest first'],
      [SESSION_RUNS]: ['are rows with all that is shown of a run, the newest first'],
    },
  },
  {
    id: '§4.8 endpoints',
    text: 'Each endpoint is open to its callers alone; an unknown, malformed or deleted session is 404.',
    proofs: {
      [REFUSALS]: [
        'these are all endpoints of Office Mode',
        '%s accepts an admin key of an administrator, as a Bearer, and nothing else',
        '%s of a session that is unknown, malformed or deleted is not found',
        '%s of a run of another session is not found',
      ],
    },
  },
  {
    id: '§4.8 ranges',
    text: 'A parameter out of its range is 422 and is never clamped.',
    proofs: {
      [REFUSALS]: ['%s refuses what is out of range, of another type or there twice, and clamps nothing'],
      [SESSIONS]: ['a page of %s may have %i'],
      [HOUSE]: ['has 72 rows unless another number is requested'],
    },
  },
  {
    id: '§4.8 time zone',
    text: 'Today is the day of the given zone; Shanghai’s when none is given.',
    proofs: {
      [HOUSE]: ['has what was used %s'],
      [TODAY]: ['the day turns during a run: each day has what was used in it, in every zone'],
      'domain/time-zone.test.ts': [
        'a day of %s at %s began at %s',
        'zones with %s: %s at %s began at %s',
        'a day %s: %s at %s began at %s',
      ],
    },
  },
  {
    id: '§4.8 rule 1',
    text: 'The virtual team is listed only with unassigned usage today or a live unassigned run, whatever the limit.',
    proofs: { [SNAPSHOT]: ['rule 1: the virtual team and %s'] },
  },
  {
    id: '§4.8 rule 2',
    text: 'Usage belongs to the team of its record, else of its run, else of its user; without all three it is unassigned.',
    proofs: {
      [SCENARIOS]: ['rule 2: %s'],
      [LEDGER]: ['a row has the team of its moment; without one it counts for the team of its run, which stays'],
      [SESSION_RUNS]: ['a run keeps the team of its acceptance, and a session has that of its newest run'],
    },
  },
  {
    id: '§4.8 rule 3',
    text: '`total` counts like `today_active`: distinct sessions with usage today, and live unassigned ones without.',
    proofs: { [SCENARIOS]: ['rule 3: %s'] },
  },
  {
    id: '§4.8 rule 4',
    text: '`item_total` counts the sessions with rows, and decides `has_more` and `next_page`.',
    proofs: { [HOUSE]: ['come in pages, whose end item_total shows'] },
  },
  {
    id: '§4.8 rule 5',
    text: 'Rows come from today’s usage joined to runs; usage without a run counts and gives no row.',
    proofs: { [SCENARIOS]: ['rule 5: %s'] },
  },
  {
    id: '§4.8 rule 6',
    text: 'Live unassigned runs without usage come before the runs found through usage.',
    proofs: { [TODAY]: ['rule 6: live unassigned runs come before runs found through usage; pages are of sessions'] },
  },
  {
    id: '§4.8 rule 7',
    text: 'Deleted sessions with usage today count; those of a run are rows, marked `is_deleted`.',
    proofs: {
      [SCENARIOS]: ['rule 7: %s'],
      [TODAY]: ['a deleted session is marked, and its title is gone with it'],
      [SNAPSHOT]: ['runs of deleted sessions are neither rows nor counted, and what they used is'],
      [HOUSE]: ['of deleted sessions are marked, and have no conversation'],
    },
  },
  {
    id: '§4.8 rule 8',
    text: 'Cost and tokens of a row are those of its session within today.',
    proofs: {
      [TODAY]: ['rule 8: a row has what its session used today, for whichever team, and nothing of yesterday'],
    },
  },
  {
    id: '§4.8 rule 9',
    text: 'The figures of a team are the fields of the snapshot; the list of today’s runs serves the list alone.',
    proofs: {
      [HOUSE]: ['shows runs, teams and sessions'],
      [SNAPSHOT]: [
        'a team has as many scheduled tasks as its members have enabled, and the virtual team those of the others',
      ],
      'tui/floor/floor.test.ts': ['the floor on a usual terminal'],
    },
  },
  {
    id: '§4.8 streams',
    text: 'A stream starts after the newest event, or brings the past from `after_id`, each event once and in order.',
    proofs: {
      [STREAMS]: [
        'a stream begins with retry, and without a position after the newest event',
        THE_PAST,
        'watchers that join while events are committed get each once and in order',
      ],
      [KILLED]: [ACROSS_KILLS],
      [CROWD]: ['both SDKs converse to the right end while a thousand watchers see it all'],
    },
  },
  {
    id: '§4.8 refill',
    text: '`stream_seq` rises without a gap, and `from_stream_seq` brings what is missing.',
    proofs: {
      [STREAMS]: ['the pages of stream-events lead to the newest and to the oldest event, each once'],
      [KILLED]: [ACROSS_KILLS],
      [CROWD]: ['both SDKs converse to the right end while a thousand watchers see it all'],
    },
  },
  {
    id: '§6.1 Office Mode',
    text: 'Each block has its event’s name, id and data.',
    proofs: { [STREAMS]: ['a stream begins with retry, and without a position after the newest event'] },
  },
];
