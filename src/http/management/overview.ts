// The handlers of administrators for anybody's sessions and runs, and for the queue.
import { RUN_STATUSES } from '../../domain/run.ts';
import type { Caller } from '../../domain/user.ts';
import type { Log } from '../../log/log.ts';
import type { Operations } from '../../operations/operations.ts';
import { renderRunArtifacts, renderSessionArtifacts } from '../sessions/artifacts-wire.ts';
import { type Exchange, idInPath, queryValue } from '../frame/exchange.ts';
import { renderHistory } from '../sessions/history-wire.ts';
import { makeNoteReader } from '../frame/note-reader.ts';
import { renderQueue, renderRunRecord, renderSessionRecord } from './overview-wire.ts';
import { pageInQuery, positionInRequest, wordInQuery } from '../frame/query.ts';
import { ok, type Reply } from '../frame/reply.ts';
import type { OpenRunStream } from '../conversations/run-stream.ts';
import { renderDeletion, renderStop } from '../sessions/sessions-wire.ts';

export interface OverviewParts {
  readonly operations: Operations;
  readonly openStream: OpenRunStream;
  readonly log: Log;
}

type AdminHandler = (exchange: Exchange, caller: Caller) => Promise<Reply | undefined>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeOverviewHandlers({ operations, openStream, log }: OverviewParts) {
  const noteReader = makeNoteReader(log);
  return {
    listSessions: async (exchange) => {
      const filter = { user: queryValue(exchange, 'user'), key: queryValue(exchange, 'key') };
      const { items, total } = await operations.listAnySessions({ ...filter, ...pageInQuery(exchange) });
      return ok({ items: items.map(renderSessionRecord), total });
    },
    getSession: async (exchange) =>
      ok(renderSessionRecord(await operations.getAnySession(idInPath(exchange, 'Session')))),
    messages: async (exchange, caller) => {
      const { session, messages } = await operations.readAnySession(idInPath(exchange, 'Session'));
      noteReader(caller, session, { session_id: session.id });
      return ok(renderHistory({ sessionId: session.id, messages }));
    },
    artifacts: async (exchange, caller) => {
      const session = await operations.getAnySession(idInPath(exchange, 'Session'));
      noteReader(caller, session, { session_id: session.id });
      return ok(renderSessionArtifacts(await operations.getAnySessionArtifacts(session.id)));
    },
    runArtifacts: async (exchange, caller) => {
      const run = await operations.getAnyRun(idInPath(exchange, 'Run'));
      noteReader(caller, run, { session_id: run.sessionId, run_id: run.id });
      return ok(renderRunArtifacts(await operations.getAnyRunArtifacts(run.id)));
    },
    stopSession: async (exchange) => ok(renderStop(await operations.stopAnySession(idInPath(exchange, 'Session')))),
    deleteSession: async (exchange) =>
      ok(renderDeletion(await operations.deleteAnySession(idInPath(exchange, 'Session')))),

    listRuns: async (exchange) => {
      const sessionId = queryValue(exchange, 'session');
      const status = wordInQuery(exchange, 'status', RUN_STATUSES);
      const { items, total } = await operations.listAnyRuns({ sessionId, status, ...pageInQuery(exchange) });
      return ok({ items: items.map(renderRunRecord), total });
    },
    getRun: async (exchange) => ok(renderRunRecord(await operations.getAnyRun(idInPath(exchange, 'Run')))),
    stopRun: async (exchange) => ok(renderStop(await operations.stopAnyRun(idInPath(exchange, 'Run')))),
    stream: async (exchange, caller) => {
      const afterId = positionInRequest(exchange);
      const run = await operations.getAnyRun(idInPath(exchange, 'Run'));
      noteReader(caller, run, { session_id: run.sessionId, run_id: run.id });
      openStream(exchange, run, { afterId, ids: true, tools: true, format: 'journal' });
      return undefined;
    },

    queue: async (exchange) => ok(renderQueue(await operations.getQueue(pageInQuery(exchange)))),
  } satisfies Record<string, AdminHandler>;
}
