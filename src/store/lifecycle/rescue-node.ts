// Rescues what a node had in progress of which no process is left: model calls, runs, stops.
import { settleLeftIn } from '../budgets/lost-calls.ts';
import type { BudgetKit } from '../budgets/budget-kit.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type Rescued, rescueIn } from './rescue-runs.ts';
import { confirmOfNode } from './stop-runs.ts';

/** The verb on a node whose process has ended. */
export function makeRescueNode({ write }: Database, kit: BudgetKit) {
  return {
    /** Rescues what was in progress at a node, and runs of nodes that nobody knows. Only for its start: no worker may hold a run there. */
    rescue: write((tx: Transaction, node: string): Step<Rescued> => rescueNode(tx, kit, node), FREES),
  };
}

/** Only when no executor works there any more. A node has few runs in progress, so one commit can have them all. */
export function* rescueNode(tx: Transaction, kit: BudgetKit, node: string): Step<Rescued> {
  // Before any of these runs begins another call.
  yield* settleLeftIn(tx, kit, node);
  const rescued = yield* rescueIn(tx, node);
  yield* confirmOfNode(tx, node);
  return rescued;
}
