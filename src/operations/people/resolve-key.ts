// The one place that turns the text of an API key into its identity (§5, B3, B5).
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { KeyIdentity } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { HeldKey } from '../../store/people/keys.ts';
import { parseKey, secretMatches } from './secrets.ts';

/** `last_used_at` is written at most this often, so that a busy key does not add a write to every request. */
const TOUCH_MS = 60_000;

export type ResolveKey = (text: string) => Promise<KeyIdentity>;

/** Takes a key for used. Throws `unauthenticated` for a revoked or expired one, `forbidden` for a disabled owner. */
export type UseKey = (owned: HeldKey) => KeyIdentity;

interface Parts {
  readonly store: Pick<Store, 'keys'>;
  readonly clock: Clock;
}

const refused = () => new ErrandError('unauthenticated', 'The API key is missing or invalid.');

/** Makes what decides whether a key is good. */
export function makeUseKey({ store, clock }: Parts): UseKey {
  const touchedAt = new Map<number, number>();

  function touch(keySeq: number, lastUsedAt: number | null): void {
    const now = clock.now();
    if (Math.abs(now - Math.max(lastUsedAt ?? 0, touchedAt.get(keySeq) ?? 0)) < TOUCH_MS) return;
    touchedAt.set(keySeq, now);
    // Informational only: a full disk must not turn it into a refusal.
    store.keys.touch(keySeq, now).catch(() => touchedAt.delete(keySeq));
  }

  return ({ key, user }) => {
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= clock.now())) throw refused();
    if (user.disabled) throw new ErrandError('forbidden', 'The owner of this API key is disabled.');
    touch(key.seq, key.lastUsedAt);
    return { kind: 'key', user, key };
  };
}

/**
 * Makes the resolver of keys. It throws `unauthenticated` for a text that isn't a key, and for an unknown, revoked or
 * expired key; `forbidden` for a disabled owner.
 */
export function makeResolveKey({ useKey, ...parts }: Parts & { readonly useKey?: UseKey }): ResolveKey {
  const { store } = parts;
  const use = useKey ?? makeUseKey(parts);
  return async (text) => {
    const parsed = parseKey(text);
    const found = parsed === undefined ? undefined : await store.keys.findCredential(parsed.id);
    if (parsed === undefined || found === undefined || !secretMatches(parsed.secret, found.secretSha256)) {
      throw refused();
    }
    return use(found);
  };
}
