// A run as it starts: what determines its model, what executing it needs, and the event. It is claimed from the queue, or accepted
// when nothing is before it.
import type { JsonObject } from '../../domain/json.ts';
import type { UserBlock } from '../../domain/sessions/content.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Transaction } from '../engine/statement.ts';
import type { FoundSetup } from '../sessions/sessions.ts';

/**
 * What determines the model of a run: its key's fixed model, else that of the agent that answers, else its owner's scenario
 * (§1 rule 9).
 */
export interface ModelChoice {
  readonly keyModel: string | null;
  readonly scenario: string | null;
  /** Who answers in its session. */
  readonly target: string;
  /** The model of the lead, as stored with the session; null without a team, or when the lead has no model of its own. */
  readonly leadModel: string | null;
}

export interface StartInput {
  readonly leaseMs: number;
  /** The node that starts it. */
  readonly node: string;
  /** Other nodes that start runs, and for how long those of sessions whose files they have are left to them; absent: there are none. */
  readonly leftTo?: { readonly nodes: readonly string[]; readonly forMs: number };
  /** The catalog's model for a choice; null when it has none. */
  modelFor(choice: ModelChoice): string | null;
}

/** The columns of a run that executing it needs: a run has many, and reading them all costs as much as the claim. */
export type ClaimedRun = Pick<Run, 'seq' | 'id' | 'sessionSeq' | 'sessionId' | 'userSeq' | 'attempt' | 'model'> & {
  /** Working time of its earlier attempts, which counts against its time limit. */
  readonly workedMs: number;
  /** `free`, `expert:NAME` or `team:NAME`. */
  readonly target: string;
  /** Whether it is the first run of its session, which is no fork, so that there is no history. */
  readonly opensSession: boolean;
  /** Nobody waits for it: it is a background run, or that of a scheduled task. */
  readonly isBackgroundWork: boolean;
  readonly outputSchema: JsonObject | null;
  /** The node that had the files of its session when it started; null while none had any. */
  readonly workspaceNode: string | null;
  /** Present for a run that started with its turn, if that is short. */
  readonly fresh?: FreshTurn;
};

/** What a turn that opens a session brings with it, so that its brief needs nothing of the store. It has no attachments. */
export interface FreshTurn {
  readonly user: readonly UserBlock[];
  /** Of its content as stored. */
  readonly bytes: number;
  readonly setup: FoundSetup;
}

/** A claimed run with its attempt number: every later write of the run names it and is refused once it is outdated (D7). */
export interface Claim {
  readonly run: ClaimedRun;
  readonly choice: ModelChoice;
}

/** Adds the start to the journal. `fullSlots`: see `ClaimInput`. */
export function emitStarted(
  tx: Transaction,
  { seq, sessionSeq, attempt, model }: ClaimedRun,
  fullSlots?: number,
): void {
  const waited = fullSlots === undefined ? {} : { fullSlots };
  tx.emit(sessionSeq, seq, { type: 'run.started', payload: { attempt, model: model ?? '', ...waited } });
}
