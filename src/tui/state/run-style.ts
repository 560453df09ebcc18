// How runs are styled: the glyph that their state has everywhere, the word for it, and its role.
import { stateStyleOf, wordOfStatus } from '../../terminal/states.ts';
import type { RunStatus } from '../../domain/sessions/run.ts';
import type { Role } from '../text/line.ts';
import type { Row } from './office.ts';

export interface RunStyle {
  readonly glyph: string;
  readonly word: string;
  readonly role: Role;
}

const STYLES: Readonly<Record<Row['status'] | 'waiting' | 'stalled', Pick<RunStyle, 'word' | 'role'>>> = {
  running: { word: 'running', role: 'running' },
  waiting: { word: 'waiting', role: 'waiting' },
  stalled: { word: 'stalled', role: 'waiting' },
  pending: { word: 'pending', role: 'pending' },
  completed: { word: 'completed', role: 'completed' },
  failed: { word: 'failed', role: 'failed' },
  idle: { word: 'stopped', role: 'idle' },
};

type Styled = Pick<Row, 'status'> & Partial<Pick<Row, 'isWaiting' | 'modelWait'>>;

/** The style of a run, or of a status. */
export function runStyleOf({ status, isWaiting = false, modelWait = null }: Styled): RunStyle {
  const style = STYLES[isWaiting ? 'waiting' : modelWait !== null ? 'stalled' : status];
  return { ...style, glyph: stateStyleOf(style.word).glyph };
}

/** What each mark means, such as `✓ completed`, in the order of urgency. */
export const MARKS: readonly string[] = Object.values(STYLES).map(
  ({ word }) => `${stateStyleOf(word).glyph} ${word === 'waiting' ? 'waits for its user' : word}`,
);

const ROLES_OF_STATUS: Readonly<Record<RunStatus, Role>> = {
  queued: 'pending',
  running: 'running',
  finalizing: 'running',
  completed: 'completed',
  failed: 'failed',
  canceled: 'idle',
  incomplete: 'failed',
};

/** The style of a status of a run on its session's desk. */
export function styleOfStatus(status: RunStatus): RunStyle {
  const word = wordOfStatus(status);
  return { word, role: ROLES_OF_STATUS[status], glyph: stateStyleOf(word).glyph };
}
