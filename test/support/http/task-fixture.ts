// Scheduled tasks over HTTP and a real store: one of the user of every token, and one of another user.
import { makeSlices } from '../../../src/domain/loop/slices.ts';
import { NO_CAPABILITIES } from '../../../src/domain/capabilities/capability-config.ts';
import { lookUpNow } from '../../../src/domain/capabilities/look-up.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { recordLists } from '../../../src/operations/audit/lists.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makeScheduleOperations } from '../../../src/operations/schedules/schedules.ts';
import { auditOf } from '../store/audit.ts';
import { storeFixture } from '../store/store-fixture.ts';
import { loggedLines, openFixture, type Sent, send, SETTINGS } from './http-fixture.ts';

export const PATH = '/api/v1/scheduled-tasks';
export const UNKNOWN = '0190f6a0-0000-7000-8000-000000000000';
export const PROJECT = '0190f6a0-0000-4000-8000-00000000000a';
export const NEW = { name: 'News', cron: '30 8 * * 1-5', timezone: 'Europe/Zurich', prompt: 'Write /news.md' };
export const TASK = {
  userSeq: 0,
  name: 'Tides',
  cron: '0 7 * * *',
  timezone: 'UTC',
  target: 'free',
  projectId: null,
  enabled: true,
  overlap: 'skip',
} as const;

export interface TaskWire {
  readonly scheduled_task_id: string;
  readonly steps: readonly { readonly scheduled_task_step_id: string; readonly prompt: string }[];
}

/** What limits firings; a test may change it. */
interface Limits {
  /** Why the disk has no room for more; null while it has. */
  shortage: { readonly words: string } | null;
  draining: boolean;
  capacity: number;
}

/** The data of an envelope, and its message. */
export const data = ({ json }: { json: unknown }) => (json as { data: Record<string, never> }).data;
export const message = ({ json }: { json: unknown }) => (json as { message: string }).message;

/** Starts it at noon of Sunday, March 1, 2026. */
export async function taskFixture() {
  const rows = await storeFixture();
  const { store, clock } = rows;
  const now: Limits = { shortage: null, draining: false, capacity: 4 };
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const otto = await store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  const work = { prompt: null, steps: [{ id: UNKNOWN, prompt: 'Look' }] };
  const make = async (userSeq: number) => (await store.schedules.create({ ...TASK, userSeq, work })).id;
  const [own, ofOther] = [await make(rows.user.seq), await make(otto.seq)];
  const logged = loggedLines();
  const [access, audit] = [makeAccess(store), auditOf({ store, log: logged.log })];
  const verbs = makeScheduleOperations({
    store,
    access,
    auditedAccess: makeAuditedAccess({ access, audit }),
    audit,
    clock,
    slices: makeSlices(clock),
    definitions: () => ({ experts: new Map([['pilot', {}]]), teams: new Map([['press', {}]]) }) as never,
    lookUp: lookUpNow,
    node: { onlineCapacity: () => now.capacity },
    disk: { shortage: () => now.shortage },
    makeSetup: async ({ target }) => ({ target, capabilityConfig: NO_CAPABILITIES, orchestration: null }),
    settings: () => SETTINGS,
    closing: () => now.draining,
  });
  const operations = recordLists(audit, verbs);
  const fixture = await openFixture({ logged, operations: { ...operations } });
  const as = (credential: string) => (sending: Sent) => send(fixture, { as: credential, ...sending });
  const [user, admin] = [as('token-of-user'), as('token-of-admin')];
  return {
    rows,
    fixture,
    now,
    own,
    ofOther,
    user,
    admin,
    create: (body: object, by = user) => by({ method: 'POST', path: PATH, body: { ...NEW, ...body } }),
    change: (body: object, id = own) => user({ method: 'PATCH', path: `${PATH}/${id}`, body }),
    read: async (id: string) => data(await user({ path: `${PATH}/${id}` })) as unknown as TaskWire,
    run: (id = own, by = user) => by({ method: 'POST', path: `${PATH}/${id}/run` }),
  };
}

export type TaskFixture = Awaited<ReturnType<typeof taskFixture>>;
