// Administration of API keys (B2).
import { unprocessable } from '../domain/errors.ts';
import { isUuid } from '../domain/ids.ts';
import type { Clock } from '../domain/clock.ts';
import type { ApiKey, KeyScope, User } from '../domain/user.ts';
import type { Catalog } from '../catalog/models.ts';
import type { Store } from '../store/open-store.ts';
import { makeKey } from './secrets.ts';

/** An API key with its owner's names. */
export interface KeyRecord extends ApiKey {
  readonly userId: string;
  readonly username: string;
}

/** `user` is a name or an id; `model` null means automatic. */
export interface NewKey {
  readonly user: string;
  readonly scope: KeyScope;
  readonly name: string | null;
  readonly model: string | null;
  readonly target: string;
  readonly projectId: string | null;
  readonly expiresInSeconds: number | null;
}

interface KeyParts {
  readonly store: Store;
  readonly clock: Clock;
  catalog(): Catalog;
}

/** The verbs on API keys. Ids are public ids; each throws `not_found` for an unknown one. */
export function makeKeyOperations({ store, clock, catalog }: KeyParts) {
  function withOwner(key: ApiKey, owners: ReadonlyMap<number, User>): KeyRecord {
    const owner = owners.get(key.userSeq)!;
    return { ...key, userId: owner.id, username: owner.username };
  }

  async function owners(): Promise<ReadonlyMap<number, User>> {
    const { items } = await store.users.list();
    return new Map(items.map((user) => [user.seq, user]));
  }

  function check(input: NewKey): void {
    if (input.target !== 'free') throw unprocessable('target', 'must be "free"');
    if (input.projectId !== null && !isUuid(input.projectId)) throw unprocessable('project_id', 'must be a UUID');
    if (input.model !== null && !catalog().models.has(input.model)) {
      const known = [...catalog().models.keys()].join(', ');
      throw unprocessable('model', `must be "auto" or a model of models.yaml (${known})`);
    }
  }

  return {
    listKeys: async (userReference: string | null) => {
      const user = userReference === null ? null : await store.users.get(userReference);
      const { items, total } = await store.keys.list(user?.seq ?? null);
      const known = await owners();
      return { items: items.map((key) => withOwner(key, known)), total };
    },

    getKey: async (id: string): Promise<KeyRecord> => withOwner(await store.keys.get(id), await owners()),

    /** `secret` is the whole key: it is shown this once and kept nowhere. */
    createKey: async (input: NewKey): Promise<{ readonly key: KeyRecord; readonly secret: string }> => {
      check(input);
      const user = await store.users.get(input.user);
      const fresh = makeKey();
      const key = await store.keys.create({
        id: fresh.id,
        userSeq: user.seq,
        name: input.name ?? '',
        scope: input.scope,
        lastFour: fresh.lastFour,
        secretSha256: fresh.secretSha256,
        model: input.model,
        target: input.target,
        projectId: input.projectId,
        expiresAt: input.expiresInSeconds === null ? null : clock.now() + input.expiresInSeconds * 1_000,
      });
      return { key: withOwner(key, new Map([[user.seq, user]])), secret: fresh.text };
    },

    revokeKey: async (id: string): Promise<KeyRecord> => withOwner(await store.keys.revoke(id), await owners()),
  };
}
