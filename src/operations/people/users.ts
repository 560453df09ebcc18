// Administration of users (B1).
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { unprocessable } from '../../domain/errors.ts';
import { type LongListing, PORTION_ROWS, portionsOf } from '../../domain/portions.ts';
import type { Administrator, Role } from '../../domain/people/user.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import type { UserRecord } from '../../store/people/users.ts';
import { type Audit, itself } from '../audit/audit.ts';
import { hashPassword, makePassword } from './secrets.ts';

/** `team` is a name or an id. Without a password, the daemon generates one. */
export interface NewUser {
  readonly username: string;
  readonly fullName: string | null;
  readonly department: string | null;
  readonly role: Role | null;
  readonly team: string | null;
  readonly scenario: string | null;
  readonly password: string | null;
}

/** What to change: an absent field stays unchanged, null clears it. */
export interface UserChange {
  readonly fullName?: string;
  readonly department?: string;
  readonly role?: Role;
  readonly team?: string | null;
  readonly scenario?: string | null;
  readonly disabled?: boolean;
}

/** A user whose password was set; `password` is undefined unless the daemon generated it. */
export interface UserWithPassword extends UserRecord {
  readonly password: string | undefined;
}

export interface UserOperationParts {
  readonly store: Pick<Store, 'users' | 'teams'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly stopper: Pick<Stopper, 'stopDisabled'>;
  catalog(): Catalog;
  readonly lookUp: LookUp;
}

/** The verbs on users. Each throws `not_found` for an unknown reference (an id or a username). */
export function makeUserOperations({ store, audit, stopper, catalog, lookUp }: UserOperationParts) {
  const teamIdOf = async (team: string | null | undefined): Promise<string | null> =>
    team === null || team === undefined ? null : (await store.teams.get(team)).id;

  async function checkScenario(scenario: string | null | undefined): Promise<void> {
    if (scenario === null || scenario === undefined) return;
    if (await lookUp(() => catalog().scenarios.has(scenario))) return;
    const known = [...catalog().scenarios.keys()].join(', ');
    throw unprocessable('scenario', `must be a scenario of models.yaml (${known})`);
  }

  return {
    /** In the order of their names. */
    listUsers: async (_caller: Administrator): Promise<LongListing<UserRecord>> => ({
      items: portionsOf(async (last) => store.users.list(last?.username ?? '', PORTION_ROWS)),
      total: await store.users.count(),
    }),

    getUser: async (_caller: Administrator, reference: string): Promise<UserRecord> => store.users.get(reference),

    /** Throws `conflict` when the username is taken, `unprocessable` when a field is invalid. */
    createUser: async (caller: Administrator, input: NewUser): Promise<UserWithPassword> => {
      await checkScenario(input.scenario);
      const { hashed, made } = await passwordOf(input.password);
      const fresh = {
        username: input.username,
        fullName: input.fullName ?? '',
        department: input.department ?? '',
        role: input.role ?? 'user',
        teamId: await teamIdOf(input.team),
        functionalRole: null,
        scenario: input.scenario,
        passwordHash: hashed,
      };
      const user = await store.users.create(fresh, audit.change(caller, 'user.create', itself));
      return { ...user, password: made };
    },

    /** Disabling a user stops all their runs. Throws `conflict` when no enabled administrator would be left. */
    changeUser: async (
      caller: Administrator,
      reference: string,
      { team, ...change }: UserChange,
    ): Promise<UserRecord> => {
      await checkScenario(change.scenario);
      const teamId = team === undefined ? {} : { teamId: await teamIdOf(team) };
      const user = await store.users.change(
        reference,
        { ...change, ...teamId },
        audit.change(caller, 'user.change', itself),
      );
      if (change.disabled === true) await stopper.stopDisabled();
      return user;
    },

    /** Invalidates the user's login tokens. */
    setPassword: async (
      caller: Administrator,
      reference: string,
      { password }: { readonly password: string | null },
    ): Promise<UserWithPassword> => {
      const { hashed, made } = await passwordOf(password);
      const note = audit.change(caller, 'user.set_password', itself);
      const user = await store.users.change(reference, { passwordHash: hashed }, note);
      return { ...user, password: made };
    },
  };
}

async function passwordOf(given: string | null): Promise<{ hashed: string; made: string | undefined }> {
  const made = given === null ? makePassword() : undefined;
  return { hashed: await hashPassword(given ?? made!), made };
}
