// A run as a row of Office Mode, and the words that describe it to people (§2.14, G1, G15).
import { compact } from '../figures.ts';
import { activityOf, waitOf } from './activity.ts';
import { UNASSIGNED_TEAM } from './office.ts';
import { isTerminal, type RunError, type RunState } from './run.ts';

/** A run with its session's and its owner's names, and the counts of its session (G20). */
export interface OfficeRun {
  readonly id: string;
  readonly status: RunState;
  readonly sessionId: string;
  readonly sessionTitle: string;
  /** The beginning of what it was asked; the session's title where there is no text. */
  readonly title: string;
  readonly userId: string;
  readonly username: string;
  readonly fullName: string;
  /** The run's team, else that of its owner today (§4.8 rule 2); null without any. */
  readonly teamId: string | null;
  readonly teamName: string | null;
  /** The node that has claimed it last; null before, and of one that is forgotten. */
  readonly nodeName: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Its last event. */
  readonly updatedAt: number;
  readonly error: RunError | null;
  readonly costUsd: number;
  readonly totalTokens: number;
  /** Replies of its model; 0 unless it is running. */
  readonly steps: number;
  /** Finished tool calls. */
  readonly toolCount: number;
  readonly messageCount: number;
  readonly artifactCount: number;
  /** The tool call in progress, if any. */
  readonly call: CurrentCall | null;
  /** Its last event is text that its model writes. */
  readonly isWriting: boolean;
  /** It waits for the server of its model, which is down. */
  readonly modelWait: ModelWait | null;
}

/** `agent`: the sub-agent that waits, if it is one. */
export interface ModelWait {
  readonly model: string;
  readonly agent: string | null;
  readonly message: string;
  readonly since: number;
}

/** `input`: the beginning of its arguments as JSON. */
export interface CurrentCall {
  readonly name: string;
  readonly input: string;
}

/** A team, as a row names it. */
export type TeamOfRow = Pick<OfficeRun, 'teamId' | 'teamName'>;

/** The id of a row's team; rows without one are in the virtual team (G19). */
export function shownTeamId({ teamId }: TeamOfRow): string {
  return teamId ?? UNASSIGNED_TEAM.id;
}

/** Its name. A deleted team has none any more. */
export function shownTeamName({ teamId, teamName }: TeamOfRow): string {
  return teamId === null ? UNASSIGNED_TEAM.name : (teamName ?? teamId);
}

/** Who, and of which team. */
export function subtitleOf(run: OfficeRun): string {
  return `${nameOf(run)} · ${shownTeamName(run)}`;
}

/** Tokens, cost and tools. */
export function figuresOf({ totalTokens: tokens, costUsd, toolCount: tools }: OfficeRun): string {
  return `${compact(tokens)} ${tokens === 1 ? 'token' : 'tokens'} · ${dollars(costUsd)} · ${tools} ${tools === 1 ? 'tool' : 'tools'}`;
}

/** What the agent does now; null when the run is over. */
export function detailOf(run: OfficeRun): string | null {
  if (isTerminal(run.status)) return null;
  if (run.status === 'queued') return 'waits for its turn';
  if (run.status === 'finalizing') return 'finishes';
  const activity = run.call === null ? null : activityOf(run.call.name, run.call.input);
  if (run.status === 'waiting') return waitOf(nameOf(run), activity);
  if (run.modelWait !== null) return `waits for the model ${run.modelWait.model}`;
  if (run.isWriting) return 'writes';
  return activity ?? 'thinks';
}

const nameOf = ({ fullName, username }: OfficeRun) => (fullName === '' ? username : fullName);

/** In cents, or, below one cent, to its first significant figures. */
function dollars(usd: number): string {
  return usd === 0 || usd >= 0.01 ? `$${usd.toFixed(2)}` : `$${usd.toPrecision(1)}`;
}
