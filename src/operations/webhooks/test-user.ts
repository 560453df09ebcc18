// Whose event a test is that has no session.
import { newId } from '../../domain/ids.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { EventFacts } from '../../domain/webhooks/event-facts.ts';

/** The user of a test event whose caller is no user. */
const OPERATOR = { username: 'operator', fullName: '', department: '', role: 'admin' } as const;

/** The caller, or a made-up user for the operator. `now` is in epoch ms. */
export function testUserOf(caller: Caller, now: number): EventFacts['user'] {
  return caller.kind === 'operator' ? { ...OPERATOR, id: newId(now) } : caller.user;
}
