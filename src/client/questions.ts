// The client's verbs on what agents ask and report.
import type { InsightStatus } from '../domain/sessions/insight.ts';
import type { JsonValue } from '../domain/json.ts';
import type { ListWire } from '../wire/listing.ts';
import type { insightQuery, InsightWire } from '../wire/sessions/insight.ts';
import type { questionQuery, QuestionWire } from '../wire/sessions/question.ts';
import { type Query, queryOf } from './transport/query.ts';
import type { CallManagement, References } from './references.ts';

export interface Inputs {
  list(query: Query<typeof questionQuery>): Promise<ListWire<QuestionWire>>;
  get(id: string): Promise<QuestionWire>;
  answer(id: string, answers: JsonValue): Promise<QuestionWire>;
  /** Ends the wait; the agent continues without an answer. */
  expire(id: string): Promise<QuestionWire>;
}

export interface Insights {
  list(query: Query<typeof insightQuery>): Promise<ListWire<InsightWire>>;
  get(id: string): Promise<InsightWire>;
  setStatus(id: string, status: InsightStatus): Promise<InsightWire>;
}

export function makeInputs(call: CallManagement, { at, whole }: References): Inputs {
  return {
    list: async (query) =>
      call('GET', `/user-inputs${queryOf({ ...query, session_id: await whole('sessions', query.session_id) })}`),
    get: async (id) => call('GET', await at('user-inputs', id)),
    answer: async (id, answers) => call('POST', `${await at('user-inputs', id)}/answer`, { answers }),
    expire: async (id) => call('POST', `${await at('user-inputs', id)}/expire`),
  };
}

export function makeInsights(call: CallManagement, { at, whole }: References): Insights {
  return {
    list: async (query) =>
      call('GET', `/insights${queryOf({ ...query, session_id: await whole('sessions', query.session_id) })}`),
    get: async (id) => call('GET', await at('insights', id)),
    setStatus: async (id, status) => call('PATCH', await at('insights', id), { status }),
  };
}
