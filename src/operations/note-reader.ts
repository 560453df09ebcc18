// Keeps on record who looks into what agents and other people said.
import type { Caller } from '../domain/user.ts';
import type { Log } from '../log/log.ts';

/** The person whose it is. */
interface Owner {
  readonly userId: string;
  readonly username: string;
}

/** Notes a reader who is not the owner; `facts` say what was read. */
export type NoteReader = (caller: Caller, owner: Owner, facts: object) => void;

export function makeNoteReader(log: Log): NoteReader {
  return (caller, owner, facts) => {
    if (caller.kind !== 'operator' && caller.user.id === owner.userId) return;
    const reader = caller.kind === 'operator' ? 'operator' : caller.user.username;
    log.info({ reader, owner: owner.username, ...facts }, 'an administrator read a conversation');
  };
}
