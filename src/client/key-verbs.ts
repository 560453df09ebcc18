// What an API key does with its own sessions, apart from its turns.
import type { JsonValue } from '../domain/json.ts';
import { programs } from '../wire/programs.ts';
import type { SessionArtifactsWire } from '../wire/sessions/artifact.ts';
import { questions, type QuestionWire } from '../wire/sessions/question.ts';
import type { CallManagement } from './references.ts';
import { exchange } from './transport/exchange.ts';
import type { Address } from './transport/transport.ts';
import { verbsOf } from './verbs.ts';

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

/** Makes the verbs of a key at an address. */
export function makeKeyVerbs(address: Address, apiKey: string, signal?: AbortSignal): KeyVerbs {
  const call: CallManagement = async <T>(...[method, path, body]: Parameters<CallManagement>): Promise<T> => {
    const reply = await exchange(address, {
      method,
      path,
      token: apiKey,
      timeoutMs: TIMEOUT_MS,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    return reply.body as T;
  };
  const asGiven = async (_noun: string, id: string) => id;
  const { stop, artifacts } = verbsOf(programs, call, asGiven);
  const { listOfSession, answerOwn } = verbsOf(questions, call, asGiven);
  return {
    stop: async (id) => void (await stop(id)),
    files: artifacts,
    questions: async (id) => (await listOfSession(id, { status: 'pending' })).items,
    answer: async (id, answers) => void (await answerOwn(id, { answers })),
  };
}
