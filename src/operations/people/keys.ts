// Administration of API keys (B2).
import type { Definitions } from '../../catalog/definitions.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { CapabilityConfig } from '../../domain/capabilities/capability-config.ts';
import { type LookUp, lookUpNow } from '../../domain/capabilities/look-up.ts';
import type { Clock } from '../../domain/clock.ts';
import { unprocessable } from '../../domain/errors.ts';
import { type Administrator, type KeyScope, ownerOf } from '../../domain/people/user.ts';
import { type LongListing, portionsOf } from '../../domain/portions.ts';
import type { Pause, Slices } from '../../domain/loop/slices.ts';
import type { KeyChange, OwnedKey } from '../../store/people/keys.ts';
import type { Store } from '../../store/open-store.ts';
import {
  type CapabilityChoice,
  type CapabilityNames,
  makeCapabilityChoice,
} from '../capabilities/capability-choice.ts';
import { checkTarget } from '../capabilities/check-target.ts';
import { type Audit, itself } from '../audit/audit.ts';
import { makeKey } from './secrets.ts';
import { makeSessionSetup } from '../turns/accepting/session-setup.ts';

/** An API key with the names of its owner and of what it may use. */
export interface KeyRecord extends OwnedKey {
  /** What a session that it opens now may use (§2.10), and its names. */
  readonly capabilities: CapabilityConfig;
  readonly capabilityNames: CapabilityNames;
}

/** `secret` is the whole key: it is shown once and stored nowhere. */
export interface KeyWithSecret extends KeyRecord {
  readonly secret: string;
}

/** Null leaves the filter out. `user` is a name or an id. */
export interface KeyQuery {
  readonly user: string | null;
}

/** `user` is a name or an id; `model` null means automatic. */
export interface NewKey {
  readonly user: string;
  readonly scope: KeyScope;
  readonly name: string | null;
  readonly model: string | null;
  readonly target: string;
  readonly capabilityChoice: CapabilityChoice | null;
  readonly projectId: string | null;
  readonly continueBy: string | null;
  readonly expiresInSeconds: number | null;
}

/** Absent fields stay unchanged. */
export interface KeyRequest extends Pick<KeyChange, 'name' | 'model' | 'target' | 'continueBy'> {
  readonly capabilityChoice?: CapabilityChoice;
}

export interface KeyParts {
  readonly store: Pick<Store, 'keys' | 'users' | 'definitionIds' | 'connections'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly clock: Clock;
  readonly slices: Slices;
  catalog(): Catalog;
  definitions(): Definitions;
  readonly lookUp: LookUp;
}

/** Keys that are read together. */
const PORTION_KEYS = 25;

/** The verbs on API keys. Ids are public ids; each throws `not_found` for an unknown one. */
export function makeKeyOperations(parts: KeyParts) {
  const { store, audit, clock, slices } = parts;
  const choices = makeCapabilityChoice(parts);
  const check = makeChecks(parts);
  const { toRecord, nextOf } = makeRecords({ ...parts, choices });

  return {
    listKeys: async (caller: Administrator, { user }: KeyQuery): Promise<LongListing<KeyRecord>> => {
      const userSeq = user === null ? null : (await store.users.get(user)).seq;
      const items = portionsOf(nextOf(userSeq, slices.of(ownerOf(caller))), PORTION_KEYS);
      return { items, total: await store.keys.count(userSeq) };
    },

    getKey: async (_caller: Administrator, id: string): Promise<KeyRecord> => toRecord(await store.keys.get(id)),

    /** Throws `unprocessable` for unknown names. */
    createKey: async (caller: Administrator, input: NewKey): Promise<KeyWithSecret> => {
      await check.model(input.model);
      await check.target(input.target);
      if (input.capabilityChoice !== null) check.choosable(input.target);
      const user = await store.users.get(input.user);
      const capabilityConfig = await choices.apply({}, input.capabilityChoice ?? {}, user.seq);
      const fresh = makeKey();
      const newKey = {
        id: fresh.id,
        userSeq: user.seq,
        name: input.name ?? '',
        scope: input.scope,
        lastFour: fresh.lastFour,
        secretSha256: fresh.secretSha256,
        model: input.model,
        target: input.target,
        capabilityConfig,
        projectId: input.projectId,
        continueBy: input.continueBy,
        expiresAt: input.expiresInSeconds === null ? null : clock.now() + input.expiresInSeconds * 1_000,
      };
      const key = await store.keys.create(newKey, audit.change(caller, 'key.create', itself));
      return { ...(await toRecord(key)), secret: fresh.text };
    },

    /** Changes a key. Sessions that it opened before keep their setup. */
    changeKey: async (
      caller: Administrator,
      id: string,
      { capabilityChoice, ...request }: KeyRequest,
    ): Promise<KeyRecord> => {
      const key = await store.keys.get(id);
      if (request.model !== undefined) await check.model(request.model);
      if (request.target !== undefined) await check.target(request.target);
      if (capabilityChoice !== undefined) check.choosable(request.target ?? key.target);
      const chosen = capabilityChoice && {
        capabilityConfig: await choices.apply(key.capabilityConfig, capabilityChoice, key.userSeq),
      };
      const note = audit.change(caller, 'key.change', itself);
      return toRecord(await store.keys.change(id, { ...request, ...chosen }, note));
    },

    revokeKey: async (caller: Administrator, id: string): Promise<KeyRecord> =>
      toRecord(await store.keys.revoke(id, audit.change(caller, 'key.revoke', itself))),
  };
}

/** Makes records of keys, each of which may name hundreds of things. */
function makeRecords({
  store,
  definitions,
  choices,
}: Pick<KeyParts, 'store' | 'definitions'> & { choices: ReturnType<typeof makeCapabilityChoice> }) {
  // Of many keys whose target is gone, none may wait for a look at the files.
  const makeSetup = makeSessionSetup({ store, definitions, lookUp: lookUpNow });
  async function toRecord(key: OwnedKey): Promise<KeyRecord> {
    const { capabilityConfig: capabilities } = await makeSetup(key);
    return { ...key, capabilities, capabilityNames: await choices.namesOf(capabilities) };
  }
  return {
    toRecord,
    /** Reads the keys after one. */
    nextOf: (userSeq: number | null, pause: Pause) => async (last: KeyRecord | undefined) => {
      const records: KeyRecord[] = [];
      for (const key of await store.keys.list(userSeq, last?.seq ?? 0, PORTION_KEYS)) {
        records.push(await toRecord(key));
        await pause();
      }
      return records;
    },
  };
}

/** Validates the fields of a key; each throws `unprocessable`. */
function makeChecks(parts: Pick<KeyParts, 'catalog' | 'definitions' | 'lookUp'>) {
  const { catalog, lookUp } = parts;
  return {
    model: async (model: string | null): Promise<void> => {
      if (model === null || (await lookUp(() => catalog().models.has(model)))) return;
      const known = [...catalog().models.keys()].join(', ');
      throw unprocessable('model', `must be "auto" or a model of models.yaml (${known})`);
    },
    target: (target: string): Promise<void> => checkTarget(target, parts),
    choosable: (target: string): void => {
      if (target === 'free') return;
      throw unprocessable('capability_config', `must be left out: ${target} decides what its agents may use`);
    },
  };
}
