// The queue as administrators see it: which runs wait, why, and for which run.
import type { Clock } from '../../domain/clock.ts';
import type { Administrator } from '../../domain/people/user.ts';
import { countNodes, type KnownNode, type NodeState } from '../../domain/nodes/node.ts';
import type { ScheduleMode } from '../../domain/sessions/run.ts';
import type { WorkerNodes } from '../../execution/queue/node.ts';
import type { Queue, QueueLoad } from '../../execution/queue/queue.ts';
import type { Store } from '../../store/open-store.ts';
import type { Page } from '../../domain/listing.ts';
import type { WaitingRun } from '../../store/runs/waiting-runs.ts';

/**
 * Why a run waits. `session_busy`: for an earlier run of its session. `user_input`: that one waits for its user.
 * `stop_unconfirmed`: for the executor of a stopped run of its session. `key_order`: for an earlier run of its key.
 * `task_busy`: for an earlier firing of its scheduled task. `slots_full`, `background_limit`: for a worker slot, of any node. `not_claiming`:
 * every node has no workers, drains or is shutting down.
 * `starting`: it no longer waits for anything.
 */
export type WaitReason =
  | 'session_busy'
  | 'user_input'
  | 'stop_unconfirmed'
  | 'key_order'
  | 'task_busy'
  | 'slots_full'
  | 'background_limit'
  | 'not_claiming'
  | 'starting';

/** A waiting run: why it waits, for which run, and how long since it was accepted. */
export interface QueueEntry extends WaitingRun {
  readonly reason: WaitReason;
  readonly behindRunId: string | null;
  readonly waitingMs: number;
}

export interface QueueReport extends QueueLoad {
  readonly items: readonly QueueEntry[];
  readonly total: number;
  /** Runs without a slot, because they wait for their users. */
  readonly waitingForUser: number;
  /** Of the installation. */
  readonly nodes: Pick<Record<NodeState, number>, 'online' | 'draining'>;
}

export interface QueueOperationParts {
  readonly store: Pick<Store, 'runs'>;
  readonly queue: Pick<Queue, 'load'>;
  readonly node: Pick<WorkerNodes, 'list'>;
  readonly clock: Clock;
}

/** Makes the verb: waiting runs in order of acceptance, with the state of the worker slots of all nodes. */
export function makeGetQueue({ store, queue, node, clock }: QueueOperationParts) {
  return async (_caller: Administrator, page: Page): Promise<QueueReport> => {
    const { items, total } = await store.runs.listWaiting(page);
    const { waiting: waitingForUser } = await store.runs.countUnfinished();
    const all = node.list();
    const load = loadOf(queue.load(), all);
    const now = clock.now();
    const { online, draining, drained } = countNodes(all);
    const nodes = { online, draining: draining + drained };
    return { ...load, nodes, total, waitingForUser, items: items.map((run) => explain(run, load, now)) };
  };
}

/** Of all nodes that start runs; of the others as they last said. */
function loadOf(own: QueueLoad, nodes: readonly KnownNode[]): QueueLoad {
  const others = nodes.filter(({ isThis, state, slots }) => !isThis && state === 'online' && slots > 0);
  return {
    open: own.open || others.length > 0,
    slots: others.reduce((sum, { slots }) => sum + slots, own.slots),
    busy: others.reduce((sum, { running }) => sum + running, own.busy),
  };
}

const BACKGROUND_WORK: ReadonlySet<ScheduleMode> = new Set(['background', 'scheduled']);

function explain(run: WaitingRun, load: QueueLoad, now: number): QueueEntry {
  const waitingMs = Math.max(0, now - run.createdAt);
  const because = (reason: WaitReason, behindRunId: string | null = null): QueueEntry => ({
    ...run,
    reason,
    behindRunId,
    waitingMs,
  });
  if (!run.ready) {
    if (run.behindInTask !== null) return because('task_busy', run.behindInTask);
    if (run.behindInSession === null) return because('stop_unconfirmed');
    return because(run.behindQuestion ? 'user_input' : 'session_busy', run.behindInSession);
  }
  if (!load.open) return because('not_claiming');
  if (run.behindInKey !== null) return because('key_order', run.behindInKey);
  if (load.busy >= load.slots) return because('slots_full');
  return because(BACKGROUND_WORK.has(run.scheduleMode) ? 'background_limit' : 'starting');
}
