// Office Mode: what administrators read of all users, and watch (§4.8). Its handlers are code: they look at a moment, and stream.
import { followHeaders } from '../conversations/headers.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { officeEvent } from '../journal-event.ts';
import { pageQuery } from '../listing.ts';
import { fileTree } from '../sessions/artifact.ts';
import { officeEnded, officeLink } from './browser.ts';
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
} from './session.ts';
import { lastHour, liveRuns, snapshot, snapshotQuery, todayQuery, todayRuns } from './snapshot.ts';
import {
  eventsQuery,
  floorEvent,
  floorStreamQuery,
  officeEvents,
  runStreamQuery,
  sessionStreamQuery,
} from './stream.ts';

const ofSession = { params: { id: idOf('Session') } };
const stream = { headers: followHeaders, sse: true } as const;

// biome-ignore format: a table reads best with one endpoint a line
export const office = endpoints('office', 'envelope', {
  snapshot: { route: 'GET /api/v1/office-mode/snapshot', summary: 'Read what happens on the floor, and what each team used today', operation: 'getOfficeSnapshot', query: snapshotQuery, reply: snapshot },
  liveRuns: { route: 'GET /api/v1/office-mode/live-runs', summary: 'List all live runs', operation: 'listLiveRuns', query: pageQuery, reply: liveRuns },
  lastHour: { route: 'GET /api/v1/office-mode/last-hour', summary: 'Read what each team used in the last hour, by quarters of an hour', operation: 'getLastHour', reply: lastHour },
  todayRuns: { route: 'GET /api/v1/office-mode/teams/:team_id/today-active-runs', summary: 'List the runs of a team that used something today', operation: 'listTodayRuns', query: todayQuery, reply: todayRuns },
  session: { route: 'GET /api/v1/office-mode/sessions/:id', summary: 'Read a session with its current run', operation: 'getOfficeSession', ...ofSession, reply: officeSession },
  detail: { route: 'GET /api/v1/office-mode/sessions/:id/detail', summary: 'Read a session with its messages and runs', ...ofSession, reply: officeDetail },
  summary: { route: 'GET /api/v1/office-mode/sessions/:id/summary', summary: 'Read what a session has come to', operation: 'getOfficeSummary', ...ofSession, reply: officeSummary },
  messages: { route: 'GET /api/v1/office-mode/sessions/:id/messages-with-files', summary: 'Read the messages of a session, with their attachments', ...ofSession, query: officeMessagesQuery, reply: officeMessages },
  runs: { route: 'GET /api/v1/office-mode/office-runs/session/:id', summary: 'List the runs of a session', operation: 'listOfficeRuns', ...ofSession, query: pageQuery, reply: officeRuns },
  rounds: { route: 'GET /api/v1/office-mode/sessions/:id/run-rounds', summary: 'List what was asked, done and answered in each run of a session', ...ofSession, query: pageQuery, reply: runRounds },
  contextUsage: { route: 'GET /api/v1/office-mode/sessions/:id/context-usage', summary: 'Read how full the window of the model of a session was at its last call', operation: 'getContextUsage', ...ofSession, reply: contextUsage },
  picture: { route: 'GET /api/v1/office-mode/sessions/:id/computer/browser/:tool_use_id', summary: 'Where to fetch what the browser showed at a tool use', operation: 'getOfficePicture', ...ofSession, reply: officePicture, base: 'own' },
  files: { route: 'GET /api/v1/office-mode/sessions/:id/workspace/files', summary: 'List the files of a session', ...ofSession, reply: fileTree },
  archive: { route: 'GET /api/v1/office-mode/sessions/:id/workspace/archive', summary: 'Where to fetch the files of a session in one archive', ...ofSession, reply: officeArchive, messages: [EXPORT_NOT_READY] },
  events: { route: 'GET /api/v1/office-mode/sessions/:id/stream-events', summary: 'Read the events of a session, or of one of its runs', ...ofSession, query: eventsQuery, reply: officeEvents },
  watchSession: { route: 'GET /api/v1/office-mode/sessions/:id/stream', summary: 'Watch a session as it happens', ...ofSession, ...stream, query: sessionStreamQuery, events: officeEvent },
  watchRun: { route: 'GET /api/v1/office-mode/sessions/:id/run-events/stream', summary: 'Watch one run of a session as it happens', ...ofSession, ...stream, query: runStreamQuery, events: officeEvent },
  createLink: { route: 'POST /api/v1/office-mode/links', summary: 'Make a link that logs one browser in to Office Mode, once', operation: 'createOfficeLink', reply: officeLink, statuses: [201], base: 'own' },
  endLogins: { route: 'DELETE /api/v1/office-mode/links', summary: 'End all log-ins of browsers to Office Mode, and its links', operation: 'endOfficeLogins', reply: officeEnded },
  watchAll: { route: 'GET /api/v1/office-mode/stream', summary: 'Watch all runs', ...stream, query: floorStreamQuery, events: floorEvent },
});
