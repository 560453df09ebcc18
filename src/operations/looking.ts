// How a session or a run is opened for reading: looked up, and the read recorded.
import type { Caller } from '../domain/people/user.ts';
import type { RunRecord } from '../store/runs/run-records.ts';
import type { SessionRecord } from '../store/sessions/session-records.ts';
import type { Access } from './access.ts';
import type { Audit } from './audit/audit.ts';

export interface LookingParts {
  readonly access: Pick<Access, 'session' | 'run'>;
  readonly audit: Pick<Audit, 'read'>;
}

/** Opens what a verb is about to read. Throws as the look-ups of `Access` do, and as `Audit.read` does (G10). */
export interface Looking {
  session(caller: Caller, id: string): Promise<SessionRecord>;
  /** `follow`: a run whose stream will be followed (C12). */
  run(caller: Caller, id: string, how?: 'read' | 'follow'): Promise<RunRecord>;
}

export function makeLooking({ access, audit }: LookingParts): Looking {
  return {
    session: async (caller, id) => {
      const session = await access.session(caller, id);
      await audit.read(caller, 'session.read', session);
      return session;
    },
    run: async (caller, id, how = 'read') => {
      const run = await access.run(caller, id);
      await audit.read(caller, `run.${how}`, run);
      return run;
    },
  };
}
