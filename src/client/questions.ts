// The client's verbs on what agents ask and report.
import type { InsightStatus } from '../domain/insight.ts';
import type { JsonValue } from '../domain/json.ts';
import type { ListWire } from '../wire/listing.ts';
import type { insightQuery, InsightWire } from '../wire/sessions/insight.ts';
import type { questionQuery, QuestionWire } from '../wire/sessions/question.ts';
import { type Query, queryOf } from './transport/query.ts';
import type { Call } from './transport/transport.ts';

/** Calls a route of the management interface; the path is without `/api/v1`. */
export type CallManagement = <T>(method: Call['method'], path: string, body?: object) => Promise<T>;

export interface Inputs {
  list(query: Query<typeof questionQuery>): Promise<ListWire<QuestionWire>>;
  get(id: string): Promise<QuestionWire>;
  answer(id: string, answers: JsonValue): Promise<QuestionWire>;
  /** Ends the wait; the agent goes on without an answer. */
  expire(id: string): Promise<QuestionWire>;
}

export interface Insights {
  list(query: Query<typeof insightQuery>): Promise<ListWire<InsightWire>>;
  get(id: string): Promise<InsightWire>;
  setStatus(id: string, status: InsightStatus): Promise<InsightWire>;
}

export function makeInputs(call: CallManagement): Inputs {
  const at = (id: string) => `/user-inputs/${encodeURIComponent(id)}`;
  return {
    list: (query) => call('GET', `/user-inputs${queryOf(query)}`),
    get: (id) => call('GET', at(id)),
    answer: (id, answers) => call('POST', `${at(id)}/answer`, { answers }),
    expire: (id) => call('POST', `${at(id)}/expire`),
  };
}

export function makeInsights(call: CallManagement): Insights {
  const at = (id: string) => `/insights/${encodeURIComponent(id)}`;
  return {
    list: (query) => call('GET', `/insights${queryOf(query)}`),
    get: (id) => call('GET', at(id)),
    setStatus: (id, status) => call('PATCH', at(id), { status }),
  };
}
