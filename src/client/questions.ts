// The client's verbs on what agents ask and report.
import type { InsightStatus } from '../domain/insight.ts';
import type { JsonValue } from '../domain/json.ts';
import type { InsightQuery, InsightWire } from './wire/insight-wire.ts';
import type { ListWire } from './wire/management-wire.ts';
import { queryOf } from './wire/session-wire.ts';
import type { Call } from './transport/transport.ts';
import type { UserInputQuery, UserInputWire } from './wire/user-input-wire.ts';

/** Calls the management interface and answers the data of its envelope. */
/** Calls a route of the management interface; the path is without `/api/v1`. */
export type CallManagement = <T>(method: Call['method'], path: string, body?: Call['body']) => Promise<T>;

export interface Inputs {
  list(query: UserInputQuery): Promise<ListWire<UserInputWire>>;
  get(id: string): Promise<UserInputWire>;
  answer(id: string, answers: JsonValue): Promise<UserInputWire>;
  /** Ends the wait; the agent goes on without an answer. */
  expire(id: string): Promise<UserInputWire>;
}

export interface Insights {
  list(query: InsightQuery): Promise<ListWire<InsightWire>>;
  get(id: string): Promise<InsightWire>;
  setStatus(id: string, status: InsightStatus): Promise<InsightWire>;
}

export function makeInputs(call: CallManagement): Inputs {
  const at = (id: string) => `/user-inputs/${encodeURIComponent(id)}`;
  return {
    list: ({ session, ...query }) => call('GET', `/user-inputs${queryOf({ session_id: session, ...query })}`),
    get: (id) => call('GET', at(id)),
    answer: (id, answers) => call('POST', `${at(id)}/answer`, { answers }),
    expire: (id) => call('POST', `${at(id)}/expire`),
  };
}

export function makeInsights(call: CallManagement): Insights {
  const at = (id: string) => `/insights/${encodeURIComponent(id)}`;
  return {
    list: ({ session, ...query }) => call('GET', `/insights${queryOf({ session_id: session, ...query })}`),
    get: (id) => call('GET', at(id)),
    setStatus: (id, status) => call('PATCH', at(id), { status }),
  };
}
