// What an API key does with its own sessions, apart from its turns.
import type { JsonValue } from '../domain/json.ts';
import type { SessionArtifactsWire } from '../wire/sessions/artifact.ts';
import type { QuestionWire, sessionQuestionQuery, sessionQuestions } from '../wire/sessions/question.ts';
import type { Static } from '../wire/shape.ts';
import { exchange } from './transport/exchange.ts';
import { type Query, queryOf } from './transport/query.ts';
import type { Address, Call } from './transport/transport.ts';

/** Verbs of one key on its own sessions, by whole ids. All throw ClientError. */
export interface KeyVerbs {
  /** Stops all runs of a session. */
  stop(sessionId: string): Promise<void>;
  /** The workspace of a session. */
  files(sessionId: string): Promise<SessionArtifactsWire>;
  /** The questions of a session that wait for an answer. */
  questions(sessionId: string): Promise<readonly QuestionWire[]>;
  answer(requestId: string, answers: JsonValue): Promise<void>;
}

const TIMEOUT_MS = 30_000;
const PENDING: Query<typeof sessionQuestionQuery> = { status: 'pending' };

/** Makes the verbs of a key at an address. */
export function makeKeyVerbs(address: Address, apiKey: string, signal?: AbortSignal): KeyVerbs {
  const call = async <T>(method: Call['method'], path: string, body?: object): Promise<T> => {
    const reply = await exchange(address, {
      method,
      path: `/openapi/v1${path}`,
      token: apiKey,
      timeoutMs: TIMEOUT_MS,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    return reply.body as T;
  };
  const session = (id: string) => `/sessions/${encodeURIComponent(id)}`;
  return {
    stop: async (id) => void (await call('POST', `${session(id)}/stop`)),
    files: async (id) => call('GET', `${session(id)}/artifacts`),
    questions: async (id) =>
      (await call<Static<typeof sessionQuestions>>('GET', `${session(id)}/user-inputs${queryOf(PENDING)}`)).items,
    answer: async (id, answers) =>
      void (await call('POST', `/user-inputs/${encodeURIComponent(id)}/answer`, { answers })),
  };
}
