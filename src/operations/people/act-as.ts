// The operator behind the control socket acts as a user, with the key that the user was given last (0057).
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { ApiKey, KeyIdentity, Origin } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { Audit } from '../audit/audit.ts';
import type { UseKey } from './resolve-key.ts';

/** What a credential begins with that names a user instead of having a secret. No key does. */
const AS = 'as:';

export interface ActAsParts {
  readonly store: Pick<Store, 'keys' | 'users'>;
  readonly audit: Pick<Audit, 'read'>;
  readonly clock: Clock;
  readonly useKey: UseKey;
}

/** `known`: the key that the same request has acted with before; when that has ended, so has what is done with it. */
export type ActAs = (username: string, origin: Origin, known?: Pick<ApiKey, 'id'>) => Promise<KeyIdentity>;

/** Whom a credential names in place of a secret; undefined for any other. Throws `unauthenticated` for one that is malformed. */
export function namedBy(credential: string): string | undefined {
  if (!credential.startsWith(AS)) return undefined;
  try {
    return decodeURIComponent(credential.slice(AS.length));
  } catch {
    throw new ErrandError('unauthenticated', 'The name of the user is malformed.');
  }
}

/** Makes it. What is done so is recorded, once in ten minutes for each key. */
export function makeActAs({ store, audit, clock, useKey }: ActAsParts): ActAs {
  return async (username, origin, known) => {
    const { seq } = await store.users.get(username);
    const held = known
      ? await store.keys.findCredential(known.id)
      : await store.keys.findNewestUsable(seq, clock.now());
    if (held === undefined) {
      const how = `Create one with: errand keys create --user ${username} --scope conversation`;
      throw new ErrandError('forbidden', `${username} has no API key that is valid. ${how}`);
    }
    const identity = useKey(held);
    const { key, user } = held;
    await audit.read({ kind: 'operator', reach: 'all', origin }, 'key.use', { id: key.id, userId: user.id });
    return identity;
  };
}
