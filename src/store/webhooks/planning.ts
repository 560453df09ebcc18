// Who plans, and who hears of it: the planner, and every change of who wants what, which plans first what came before it.
import type { RenderBody } from '../../domain/webhooks/event-facts.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { heldBefore, type HeldEvent, type Released, releaseIn } from './held-deliveries.ts';
import { planIn, type PlanOptions, type PlanResult } from './plan-deliveries.ts';

/** What a commit planned. */
export type Planned = Pick<PlanResult, 'webhookIds' | 'faults'>;

export type Planning = ReturnType<typeof makePlanning>;

/** Thrown to undo a change whose commit would have to plan more than one commit may. */
class Backlog extends Error {}

/** Makes the verbs. */
export function makePlanning(database: Database, render: RenderBody) {
  const planSome = database.write((tx: Transaction, options: PlanOptions) => planIn(tx, render, options));
  const auditedWrite = makeAuditedWrite(database);
  let announce: (planned: Planned) => void = () => undefined;

  const release = database.write(releaseIn);

  /** Plans the next events. */
  async function plan(options: PlanOptions = {}): Promise<PlanResult> {
    const result = await planSome(options);
    announce(result);
    return result;
  }

  /** Lets deliveries go whose files are known, or whose time is over. */
  async function releaseHeld(held: readonly HeldEvent[]): Promise<Released> {
    const released = await release(held);
    announce({ webhookIds: released.webhookIds, faults: [] });
    return released;
  }

  /** Makes a change whose commit first plans every event before it. A long backlog is worked off in commits before it. */
  async function planThen<Result>(
    note: Note<Result> | undefined,
    change: (tx: Transaction) => Step<Result>,
  ): Promise<Result> {
    for (;;) {
      while ((await plan()).more);
      let planned: PlanResult | undefined;
      try {
        const result = await auditedWrite(note, function* (tx) {
          planned = yield* planIn(tx, render, {});
          if (planned.more) throw new Backlog();
          return yield* change(tx);
        });
        announce(planned!);
        return result;
      } catch (error) {
        if (!(error instanceof Backlog)) throw error;
      }
    }
  }

  return {
    plan,
    releaseHeld,
    /** Events that a process which is gone may have held. */
    listHeld: database.read((tx: Reader, now: number): Step<HeldEvent[]> => heldBefore(tx, now)),
    planThen,
    /** Calls a listener after each commit that planned, whoever made it; there is one at a time. */
    onPlanned: (listener: (planned: Planned) => void): void => {
      announce = listener;
    },
  };
}
