// How each state looks on a terminal: a colour, and a glyph for readers without colours.
import type { ConnectionState } from '../domain/capabilities/connector.ts';
import type { NodeState } from '../domain/nodes/node.ts';
import type { ArtifactStatus } from '../domain/sessions/artifact.ts';
import type { InsightStatus } from '../domain/sessions/insight.ts';
import type { RunStatus } from '../domain/sessions/run.ts';
import type { SessionStatus } from '../domain/sessions/session.ts';
import type { UserInputStatus } from '../domain/sessions/user-input.ts';
import type { DeliveryState } from '../domain/webhooks/delivery.ts';
import type { Style } from './colours.ts';

/** The style of one state. Every glyph is one column wide. */
export interface StateStyle {
  readonly glyph: string;
  readonly style: Style | undefined;
}

const ACTIVE: StateStyle = { glyph: '●', style: 'green' };
const PENDING: StateStyle = { glyph: '○', style: 'yellow' };
const ASKING: StateStyle = { glyph: '?', style: 'yellow' };
const FINE: StateStyle = { glyph: '✓', style: 'green' };
const DONE: StateStyle = { glyph: '✓', style: undefined };
const WARNING: StateStyle = { glyph: '!', style: 'yellow' };
const WRONG: StateStyle = { glyph: '✗', style: 'red' };
const OVER: StateStyle = { glyph: '-', style: 'dim' };

/** All words for a state, in every noun; a word means the same in each. */
export type StateWord =
  | RunStatus
  | SessionStatus
  | UserInputStatus
  | InsightStatus
  | ConnectionState
  | ArtifactStatus
  | DeliveryState
  | 'waiting'
  | 'stalled'
  | 'ok'
  | 'degraded'
  | 'warning'
  | 'skipped'
  | 'signing'
  | 'verifying'
  | NodeState
  | 'enabled'
  | 'failing'
  | 'disabled'
  | 'withdrawn';

const LOOKS: Readonly<Record<StateWord, StateStyle>> = {
  queued: PENDING,
  pending: PENDING,
  new: PENDING,
  waiting: ASKING,
  running: ACTIVE,
  finalizing: ACTIVE,
  signing: ACTIVE,
  completed: DONE,
  answered: DONE,
  acknowledged: DONE,
  resolved: DONE,
  verifying: DONE,
  ok: FINE,
  active: FINE,
  ready: FINE,
  online: FINE,
  delivered: FINE,
  enabled: FINE,
  degraded: WARNING,
  warning: WARNING,
  failing: WARNING,
  draining: WARNING,
  stalled: WARNING,
  failed: WRONG,
  incomplete: WRONG,
  unavailable: WRONG,
  offline: WRONG,
  stopped: OVER,
  canceled: OVER,
  expired: OVER,
  dismissed: OVER,
  revoked: OVER,
  skipped: OVER,
  drained: OVER,
  disabled: OVER,
  withdrawn: OVER,
};

/** `stopped` is `canceled` in the API (§3.1); sessions are stopped in both. */
export type RunWord = Exclude<RunStatus, 'canceled'> | 'stopped';

/** The word for the status of a run, in all that people read: one for what somebody stopped. */
export const wordOfStatus = (status: RunStatus): RunWord => (status === 'canceled' ? 'stopped' : status);

/** The look of a state; an unknown word has no colour. */
export function stateStyleOf(word: string): StateStyle {
  return Object.hasOwn(LOOKS, word) ? LOOKS[word as StateWord] : { glyph: ' ', style: undefined };
}
