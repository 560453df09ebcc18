// Lists that administrators read: how each is recorded, in one table, and its application to the verbs (G10).
import type { AuditAction } from '../../domain/people/audit.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Audit, Owned } from './audit.ts';

interface Items<Item> {
  readonly items: readonly Item[];
}

interface AuditedList {
  readonly action: AuditAction;
  /** Whose things a result shows. */
  owners(result: never): readonly Owned[];
  /** A query that names one thing, which the verb opens by `AuditedAccess`: that is recorded as the read of the thing. */
  readonly narrowedBy?: string;
}

const itemsOf = <Item>({ items }: Items<Item>): readonly Item[] => items;
/** Deliveries don't say whose they are; those of system webhooks report what users do. */
const ofOthers = ({ items }: Items<unknown>): readonly Owned[] => items.map(() => ({ userId: '' }));

/** Every list that shows words, names or addresses of others. */
export const LISTS = {
  listSessions: { action: 'session.list', owners: itemsOf<Owned> },
  listRuns: { action: 'run.list', owners: itemsOf<Owned>, narrowedBy: 'sessionId' },
  listPages: { action: 'page.list', owners: itemsOf<Owned> },
  listShares: { action: 'share.list', owners: itemsOf<Owned>, narrowedBy: 'pageKey' },
  listWebhooks: { action: 'webhook.list', owners: itemsOf<Owned> },
  listDeliveries: { action: 'delivery.list', owners: ofOthers },
  listScheduledTasks: { action: 'scheduled_task.list', owners: itemsOf<Owned> },
  listUserInputs: { action: 'question.list', owners: itemsOf<Owned>, narrowedBy: 'sessionId' },
  listInsights: { action: 'insight.list', owners: itemsOf<Owned>, narrowedBy: 'sessionId' },
  // The floor of Office Mode, which is polled: its parts share an entry.
  getOfficeSnapshot: { action: 'house.read', owners: ownersOnFloor },
  listLiveRuns: { action: 'house.read', owners: itemsOf<Owned> },
  listTodayRuns: { action: 'house.read', owners: itemsOf<Owned> },
} as const satisfies Readonly<Record<string, AuditedList>>;

function ownersOnFloor({ runs, recent }: { readonly runs: readonly Owned[]; readonly recent: readonly Owned[] }) {
  return [...runs, ...recent];
}

type Verb = (caller: Caller, query: Readonly<Record<string, unknown>>, ...more: readonly unknown[]) => Promise<never>;
/** What verbs have to return so that whose things they show is known. */
type Listed = {
  readonly [N in keyof typeof LISTS]?: (...input: never) => Promise<Parameters<(typeof LISTS)[N]['owners']>[0]>;
};

/** The verbs, those of lists recorded: after what they read, and before anyone gets it. */
export function recordLists<V extends Listed>(audit: Pick<Audit, 'readList'>, verbs: V): V {
  const recorded = Object.entries<AuditedList>(LISTS).flatMap(([name, list]) => {
    const verb = (verbs as Readonly<Record<string, unknown>>)[name] as Verb | undefined;
    return verb === undefined ? [] : [[name, recordedAs(list, verb, audit)] as const];
  });
  return { ...verbs, ...Object.fromEntries(recorded) };
}

function recordedAs(
  { action, owners, narrowedBy }: AuditedList,
  verb: Verb,
  audit: Parameters<typeof recordLists>[0],
): Verb {
  return async (caller, query, ...more) => {
    const found = await verb(caller, query, ...more);
    const isNarrowed = narrowedBy !== undefined && query[narrowedBy] !== null;
    if (!isNarrowed) await audit.readList(caller, action, owners(found));
    return found;
  };
}
