// The one place that turns the text of an API key into its identity (§5, B3, B5).
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { KeyIdentity } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import { parseKey, secretMatches } from './secrets.ts';

/** `last_used_at` is written at most this often, so that a busy key does not add a write to every request. */
const TOUCH_MS = 60_000;

export type ResolveKey = (text: string) => Promise<KeyIdentity>;

/**
 * Makes the resolver of keys. It throws `unauthenticated` for a text that isn't a key, and for an unknown, revoked or
 * expired key; `forbidden` for a disabled owner.
 */
export function makeResolveKey({ store, clock }: { store: Pick<Store, 'keys'>; clock: Clock }): ResolveKey {
  const touchedAt = new Map<number, number>();
  const refused = () => new ErrandError('unauthenticated', 'The API key is missing or invalid.');

  function touch(keySeq: number, lastUsedAt: number | null): void {
    const now = clock.now();
    if (Math.abs(now - Math.max(lastUsedAt ?? 0, touchedAt.get(keySeq) ?? 0)) < TOUCH_MS) return;
    touchedAt.set(keySeq, now);
    // Informational only: a full disk must not turn it into a refusal.
    store.keys.touch(keySeq, now).catch(() => touchedAt.delete(keySeq));
  }

  return async (text) => {
    const parsed = parseKey(text);
    const found = parsed === undefined ? undefined : await store.keys.findCredential(parsed.id);
    if (parsed === undefined || found === undefined || !secretMatches(parsed.secret, found.secretSha256)) {
      throw refused();
    }
    const { key, user } = found;
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= clock.now())) throw refused();
    if (user.disabled) throw new ErrandError('forbidden', 'The owner of this API key is disabled.');
    touch(key.seq, key.lastUsedAt);
    return { kind: 'key', user, key };
  };
}
