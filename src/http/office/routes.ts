// The paths of Office Mode (§4.8): what administrators read of all users, and watch.
import type { Operations } from '../../operations/operations.ts';
import { followHeaders } from '../../wire/conversations/headers.ts';
import { officeEvent } from '../../wire/journal-event.ts';
import { pageQuery } from '../../wire/listing.ts';
import {
  contextUsage,
  EXPORT_NOT_READY,
  officeArchive,
  officeDetail,
  officeMessages,
  officeMessagesQuery,
  officePicture,
  officeRuns,
  officeSession,
  officeSummary,
  runRounds,
} from '../../wire/office/session.ts';
import { lastHour, liveRuns, snapshot, snapshotQuery, todayQuery, todayRuns } from '../../wire/office/snapshot.ts';
import {
  eventsQuery,
  houseEvent,
  houseStreamQuery,
  officeEvents,
  runStreamQuery,
  sessionStreamQuery,
} from '../../wire/office/stream.ts';
import { fileTree } from '../../wire/sessions/artifact.ts';
import { type Route, routesWith } from '../frame/route.ts';
import { makeOfficeHouseHandlers } from './house.ts';
import { makeOfficeSessionHandlers } from './sessions.ts';
import type { makeOfficeStreams } from './streams.ts';

const ofOffice = routesWith('office', 'envelope');

export interface OfficeRouteParts {
  readonly operations: Operations;
  readonly officeStreams: ReturnType<typeof makeOfficeStreams>;
}

/** The rows of the table of routes. */
export function officeRoutes(parts: OfficeRouteParts): Route[] {
  return [...readRoutes(parts), ...streamRoutes(parts)];
}

/** What administrators read of all users (§4.8). */
function readRoutes({ operations }: OfficeRouteParts): Route[] {
  const house = makeOfficeHouseHandlers(operations);
  const session = makeOfficeSessionHandlers(operations);
  const archive = { reply: officeArchive, messages: [EXPORT_NOT_READY], handler: session.archive };
  // biome-ignore format: a table reads best with one route a line
  return [
    ofOffice('GET /api/v1/office-mode/snapshot', 'Read what the whole house does, and what each team used today', { query: snapshotQuery, reply: snapshot, handler: house.snapshot }),
    ofOffice('GET /api/v1/office-mode/live-runs', 'List the live runs of the whole house', { query: pageQuery, reply: liveRuns, handler: house.liveRuns }),
    ofOffice('GET /api/v1/office-mode/last-hour', 'Read what each team used in the last hour, by quarters of an hour', { reply: lastHour, handler: house.lastHour }),
    ofOffice('GET /api/v1/office-mode/teams/:team_id/today-active-runs', 'List the runs of a team that used something today', { query: todayQuery, reply: todayRuns, handler: house.today }),
    ofOffice('GET /api/v1/office-mode/sessions/:id', 'Read a session with its current run', { reply: officeSession, handler: session.get }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/detail', 'Read a session with its messages and runs', { reply: officeDetail, handler: session.detail }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/summary', 'Read what a session has come to', { reply: officeSummary, handler: session.summary }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/messages-with-files', 'Read the messages of a session, with their attachments', { query: officeMessagesQuery, reply: officeMessages, handler: session.messages }),
    ofOffice('GET /api/v1/office-mode/office-runs/session/:id', 'List the runs of a session', { query: pageQuery, reply: officeRuns, handler: session.runs }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/run-rounds', 'List what was asked, done and answered in each run of a session', { query: pageQuery, reply: runRounds, handler: session.rounds }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/context-usage', 'Read how full the window of the model of a session was at its last call', { reply: contextUsage, handler: session.contextUsage }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/computer/browser/:tool_use_id', 'Where to fetch what the browser showed at a tool use', { reply: officePicture, handler: session.picture }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/workspace/files', 'List the files of a session', { reply: fileTree, handler: session.files }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/workspace/archive', 'Where to fetch the files of a session in one archive', archive),
  ];
}

/** What happens in the house, live and by pages (§4.8). */
function streamRoutes({ officeStreams: s }: OfficeRouteParts): Route[] {
  const ofSession = { headers: followHeaders, events: officeEvent, sse: true } as const;
  const ofHouse = { headers: followHeaders, events: houseEvent, sse: true } as const;
  // biome-ignore format: a table reads best with one route a line
  return [
    ofOffice('GET /api/v1/office-mode/sessions/:id/stream-events', 'Read the events of a session, or of one of its runs', { query: eventsQuery, reply: officeEvents, handler: s.events }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/stream', 'Watch a session as it happens', { ...ofSession, query: sessionStreamQuery, handler: s.session }),
    ofOffice('GET /api/v1/office-mode/sessions/:id/run-events/stream', 'Watch one run of a session as it happens', { ...ofSession, query: runStreamQuery, handler: s.run }),
    ofOffice('GET /api/v1/office-mode/stream', 'Watch the runs of the whole house', { ...ofHouse, query: houseStreamQuery, handler: s.house }),
  ];
}
