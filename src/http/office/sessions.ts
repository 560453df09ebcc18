// The handlers of one session in Office Mode that no table can say: what is streamed, and archives (§4.8).
import type { Administrator } from '../../domain/people/user.ts';
import { totalTokens } from '../../domain/sessions/usage.ts';
import type { OfficeDetail } from '../../operations/office/session-facts.ts';
import type { OfficeMessages, RunRounds } from '../../operations/office/session-pages.ts';
import type { Operations } from '../../operations/operations.ts';
import type { HistoryMessage } from '../../operations/sessions/history.ts';
import type { Page } from '../../domain/listing.ts';
import { isoTime } from '../../domain/clock.ts';
import type { pageQuery } from '../../wire/listing.ts';
import {
  EXPORT_NOT_READY,
  messageHead,
  type OfficeDetailWire,
  type officeMessagesQuery,
  type OfficeMessagesWire,
  runHead,
  runRound,
  type RunRoundsWire,
} from '../../wire/office/session.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { type Streamable, streamedList } from '../replies/json-pieces.ts';
import { ok } from '../replies/reply.ts';
import { renderWorkspace } from '../sessions/artifacts-wire.ts';
import { renderMessage } from '../sessions/history-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeOfficeSessionHandlers(operations: Operations) {
  return {
    detail: async (_exchange: Exchange, caller: Administrator, id: string) =>
      ok(renderDetail(await operations.getOfficeDetail(caller, id))),
    messages: async ({ query }: Exchange<Static<typeof officeMessagesQuery>>, caller: Administrator, id: string) =>
      ok(renderMessages(await operations.listOfficeMessages(caller, id, query))),
    rounds: async ({ query }: Exchange<Static<typeof pageQuery>>, caller: Administrator, id: string) =>
      ok(renderRounds(await operations.listRunRounds(caller, id, query), query)),
    files: async ({ bases }: Exchange, caller: Administrator, id: string) => {
      const files = await operations.getOfficeFiles(caller, id);
      return ok(files === null ? [] : renderWorkspace(id, files, bases.own));
    },
    archive: async ({ bases }: Exchange, caller: Administrator, id: string) => {
      const { address, filename } = await operations.getOfficeArchive(caller, id);
      if (address === null) return { ...ok({ url: null, filename }), message: EXPORT_NOT_READY };
      return ok({ url: bases.own + address, filename });
    },
  };
}

function renderDetail({ session, totals, messages, runs, at }: OfficeDetail): Streamable<OfficeDetailWire> {
  return {
    session_id: session.id,
    session_title: session.title,
    session_status: session.status,
    total_cost_usd: totals.costUsd,
    total_tokens: totalTokens(totals),
    message_count: totals.messageCount,
    artifact_count: totals.artifactCount,
    messages: streamedList(messages, messageHead.render),
    runs: streamedList(runs, (run) => runHead.render({ ...run, at })),
  };
}

function renderMessages({ sessionId, messages, nextBeforeId }: OfficeMessages): Streamable<OfficeMessagesWire> {
  return {
    session_id: sessionId,
    items: streamedList<HistoryMessage, OfficeMessagesWire['items'][number]>(messages, (message) => ({
      ...renderMessage(message),
      run_id: message.runId,
      created_at: isoTime(message.createdAt),
    })),
    has_more: nextBeforeId !== null,
    next_before_id: nextBeforeId,
  };
}

function renderRounds({ sessionId, rounds, total }: RunRounds, page: Page): Streamable<RunRoundsWire> {
  let number = page.offset;
  const items = streamedList(rounds, (round) => runRound.render({ ...round, number: (number += 1) }));
  return { session_id: sessionId, items, total, ...page };
}
