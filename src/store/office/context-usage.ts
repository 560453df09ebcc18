// What filled the window of a session's model at its last call (G7).
import type { ContextParts } from '../../domain/sessions/usage.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** `model`: the catalog's name. */
export interface LastCall extends ContextParts {
  readonly model: string;
}

/** The verb. */
export function makeContextUsage({ read }: Database) {
  return {
    /** The last model call of a session's own agent; undefined before the first. */
    findLastCall: read(function* (tx: Reader, sessionSeq: number): Step<LastCall | undefined> {
      const row = yield* tx.get<LastCall & { readonly inputTokens: number }>(
        `SELECT r.model, t.input_tokens, t.system_tokens AS system, t.history_tokens AS history,
           t.tools_tokens AS tools
         FROM runs r CROSS JOIN steps t ON t.run_seq = r.seq
         WHERE r.session_seq = ? ORDER BY r.seq DESC, t.step DESC LIMIT 1`,
        sessionSeq,
      );
      if (row === undefined) return undefined;
      const { inputTokens, ...call } = row;
      // Steps recorded by an earlier Errand have no parts.
      return call.system + call.history + call.tools === 0 ? { ...call, history: inputTokens } : call;
    }),
  };
}
