// Runs as Responses (M3): what the Responses protocol may ask of a run that it began.
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Access } from '../access.ts';

export interface ResponseOperationParts {
  readonly access: Pick<Access, 'response'>;
  /** Throws `rate_limited`. */
  countPoll(keySeq: number): void;
}

/** The verbs. Each takes the id of the run, and throws as `Access.response` does. */
export function makeResponseOperations({ access, countPoll }: ResponseOperationParts) {
  return {
    /** The run as it is now. Throws `rate_limited`. */
    getResponse: async (caller: KeyCaller, id: string): Promise<Run> => {
      countPoll(caller.key.seq);
      return access.response(caller, id);
    },

    /** A run whose stream will be followed. */
    followResponse: async (caller: KeyCaller, id: string): Promise<Run> => access.response(caller, id),
  };
}
