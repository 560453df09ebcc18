// What an agent is told of a workspace that was laid out anew: which moment it is of, and what its calls have left that may be gone.
import { isoTime } from '../clock.ts';
import { activityOf } from './activity.ts';

/** The moment that a workspace is recorded of. `step`: of a run, after that step; 0: before its first change; null: after its end. */
export interface AsOf {
  readonly step: number | null;
  /** Whether the run is the one that goes on now. */
  readonly isOwn: boolean;
  /** When the run was accepted, and when it ended; null while it goes on. */
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** A call that may have changed the workspace since then. */
export interface LostCall {
  readonly name: string;
  /** JSON, or the beginning of it. */
  readonly input: string;
  readonly step: number;
  readonly isOwn: boolean;
}

/** `asOf`: null when nothing was ever recorded. `calls`: in order; `more`: there were others before them. */
export function workspaceNote(asOf: AsOf | null, calls: readonly LostCall[], more: boolean): string {
  const lines = calls.map(
    ({ name, input, step, isOwn }) => `- ${activityOf(name, input)} (${isOwn ? '' : 'an earlier turn, '}step ${step})`,
  );
  if (more) lines.unshift('- earlier calls');
  return `Note: your workspace had to be restored on another machine. It is ${momentOf(asOf)}. What these calls have left in it since then is gone:
${lines.join('\n')}
Look at what is there before you rely on it.`;
}

function momentOf(asOf: AsOf | null): string {
  if (asOf === null) return 'empty, except for attached files';
  const { step, isOwn, createdAt, finishedAt } = asOf;
  const turn = isOwn ? 'this turn' : `the turn of ${isoTime(createdAt)}`;
  if (step === null)
    return `as it was when the turn of ${isoTime(createdAt)} ended, at ${isoTime(finishedAt ?? createdAt)}`;
  return step === 0 ? `as it was before the first change in ${turn}` : `as it was after step ${step} of ${turn}`;
}
