// What the project decided about Office Mode where §2.14 and §4.8 are silent (G8–G23).
import type { Rule } from './rule.ts';

const SNAPSHOT = 'store/office/snapshot.test.ts';
const REFUSALS = 'http/office/refusals.test.ts';
const HOUSE = 'http/office/house.test.ts';
const SESSIONS = 'http/office/sessions.test.ts';
const SESSION_RUNS = 'http/office/session-runs.test.ts';
const SESSION_FILES = 'http/office/session-files.test.ts';
const STREAMS = 'http/office/streams.test.ts';
const HOUSE_STREAM = 'http/office/house-stream.test.ts';
const WATCHERS = 'http/office/watchers.test.ts';
const LEDGER = 'store/runs/progress/record-usage.test.ts';
const EVENTS = 'wire/journal-event.test.ts';
const KILLED = 'acceptance/office/watching.test.ts';
const CROWD = 'acceptance/office/crowd.test.ts';
const THE_PAST = '%s brings the past, exactly as stream-events has it, and then the present';

export const RULES_OF_OFFICE_DECISIONS: readonly Rule[] = [
  {
    id: 'G8',
    text: 'The names of the events; text that follows closely is merged into one delta.',
    proofs: {
      [EVENTS]: ['%s is sent with all that it carries'],
      'agent/port/outbox.test.ts': [
        'text that follows closely waits and is merged, and leaves though nothing follows it',
      ],
    },
  },
  {
    id: 'G9',
    text: 'A heartbeat after 15 s; who reads nothing is dropped at 1 MB or after 30 s, and resumes; the larger position counts.',
    proofs: {
      [WATCHERS]: [
        'a heartbeat comes after fifteen silent seconds, not before',
        'a watcher that reads nothing is dropped at 1 MB, and resumes without a gap',
        'a watcher that reads nothing for thirty seconds is dropped, one that reads slowly is not',
        'a thousand watchers that come and go leave nothing behind',
      ],
      [STREAMS]: ['the larger of after_id and Last-Event-ID counts'],
    },
  },
  {
    id: 'G10',
    text: 'Access to an open stream is checked again within 60 s; reads of others’ conversations are in the audit log.',
    proofs: {
      [WATCHERS]: [
        'an administrator who loses the role loses the stream within a minute; others keep theirs',
        'a role taken, a key revoked or an account disabled in the store ends the stream, and the key opens no other',
      ],
      'http/frame/credential-watch.test.ts': [
        'thousands are checked in small parts, all within the minute, and those that have left never',
      ],
      [SESSIONS]: ['is recorded before it is answered'],
      'operations/audit/audited-verbs.test.ts': ['every verb says whether it is recorded'],
      'operations/audit/recorded-calls.test.ts': [
        'a list leaves one entry a minute and reader, however many owners and things are on it',
      ],
      'http/administration/audited-routes.test.ts': ['every path by which administrators read has a line'],
    },
  },
  {
    id: 'G11',
    text: 'An unknown team is 404, and a deleted session’s detail too, while its usage still counts.',
    proofs: {
      [REFUSALS]: [
        'a team that is unknown or malformed is not found, and the virtual one always is',
        '%s of a session that is unknown, malformed or deleted is not found',
      ],
      [SNAPSHOT]: ['runs of deleted sessions are neither rows nor counted, and what they used is'],
    },
  },
  {
    id: 'G12',
    text: 'Every model call leaves a row of the ledger in the commit that keeps it, and the rows add up to every sum.',
    proofs: {
      [LEDGER]: [
        'a model call leaves a row with everything that is reported of it',
        'replies, sub-agents and summaries leave a row each, which add up to the usage of the run',
        'an attempt that has lost its run leaves no row',
        'whatever verbs do, the rows add up to what is kept of them',
      ],
    },
  },
  {
    id: 'G13',
    text: 'The overview counts live runs and those of today; live rows come first; the 24 sessions that changed last.',
    proofs: {
      [SNAPSHOT]: [
        'runs are counted by status whatever the limit says: live ones, and those that ended today',
        'rows are what runs, what waits, and what ended today, the newest first in each',
        'the sessions that changed last are returned with their newest run, at most 24',
      ],
    },
  },
  {
    id: 'G14',
    text: 'Administrators see every conversation: their own as owners, others read only.',
    proofs: {
      [HOUSE]: ['of an empty house has its teams, and nothing else'],
      [SESSION_RUNS]: ['one’s own are one’s own'],
    },
  },
  {
    id: 'G15',
    text: 'A row names who, which team, what it used, and what the agent does until the run is over.',
    proofs: {
      [SESSION_RUNS]: [
        'are rows with all that is shown of a run, the newest first',
        'what a run does is shown until it is over',
        'a failed run has its error',
      ],
    },
  },
  {
    id: 'G16',
    text: 'Streams begin with `retry: 2000` and outlive their run; deletion, lost access, a drain or the client ends them.',
    proofs: {
      [STREAMS]: [
        'a stream begins with retry, and without a position after the newest event',
        "a run's stream has its own events and those that name it, and outlives its end",
        'a deleted session ends its streams after session.deleted',
      ],
      [WATCHERS]: ['a drain ends all streams, and those that come during it'],
      [KILLED]: ['a daemon that stops ends the streams, and watchers come back to the next'],
    },
  },
  {
    id: 'G17',
    text: 'An entry of the audit log says who did what to which, when and from where; each hash seals those before.',
    proofs: {
      'http/administration/audit.test.ts': [
        'an entry has the key, the address behind a trusted proxy and the id of the request',
      ],
      'operations/audit/keep-anchor.test.ts': [
        'with %s, the next start says so, and every later one',
        'an older copy of the database is found, as its anchor is ahead',
      ],
      'store/audit/record-entry.test.ts': [
        'each hash is made of the one before and of every field of its entry',
        'an entry is in the commit of its verb, and a verb that throws leaves none',
      ],
    },
  },
  {
    id: 'G18',
    text: 'The payloads of the events; inputs and outputs are cut at 4 KB and say so.',
    proofs: {
      [EVENTS]: [
        'the payload of %s is as promised, and nothing more (G18, G23)',
        'a large input of a tool is cut at 4 KB, and says so (G18)',
      ],
      [HOUSE_STREAM]: ['large inputs are held and sent by their start alone'],
    },
  },
  {
    id: 'G19',
    text: 'The virtual team is "Unassigned"; a picture that is not there is 404; an archive that is not ready has no address.',
    proofs: {
      [SESSION_RUNS]: ['a run without a team is unassigned, and one of a nameless user is shown by the username'],
      [SESSION_FILES]: [
        'is empty and has no archive until its export is ready',
        'are found by tool use, the newest of the session, and lead to their bytes',
      ],
    },
  },
  {
    id: 'G20',
    text: 'A summary counts finished tool calls, the files of all runs, and messages of users and assistants.',
    proofs: { [SESSIONS]: ['a summary counts messages, runs, finished tool calls and files, and the time at work'] },
  },
  {
    id: 'G21',
    text: 'A parameter that is there twice is 422; an unknown one is ignored.',
    proofs: {
      [REFUSALS]: [
        '%s refuses what is out of range, of another type or there twice, and clamps nothing',
        '%s ignores a parameter that it does not know, also twice',
      ],
    },
  },
  {
    id: 'G22',
    text: 'Events of a run have a `stream_seq` that rises by 1 from 1; those of the session have none.',
    proofs: {
      [STREAMS]: [THE_PAST, "a run's stream has its own events and those that name it, and outlives its end"],
      [EVENTS]: ['an event of the session names its run, and has no place in the sequence of the run (G22)'],
      [CROWD]: ['both SDKs converse to the right end while a thousand watchers see it all'],
    },
  },
  {
    id: 'G23',
    text: '`last_error` is a text or null, detail is complete and ascending, and time zones have IANA names.',
    proofs: {
      [SESSIONS]: [
        'a session has its owner, team and current run, and what failed last',
        'detail of a long session has all of it',
      ],
      'domain/time-zone.test.ts': ['"%s" names none'],
    },
  },
];
