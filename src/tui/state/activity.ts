// What an agent does right now, in a few words: made of the events of its run (G15).
import type { JsonValue } from '../../domain/json.ts';
import { activityOf } from '../../domain/sessions/activity.ts';

/** A tool call in one line: `shell: python plot.py`, `writes report.md`. The daemon's snapshots have the same words. */
export function describeCall(name: string, input: JsonValue | undefined): string {
  return activityOf(name, JSON.stringify(input ?? {}));
}

export const THINKS = 'thinks';
/** Its model writes a text. */
export const WRITES = 'writes';

/** Why a model doesn't answer, by what the daemon says of it. */
const REASONS: readonly (readonly [said: RegExp, why: string])[] = [
  [/the connection was refused/, 'refuses connections'],
  [/connecting took too long|the connection timed out/, 'accepts no connection'],
  [/the host is unreachable/, 'is unreachable'],
  [/by the gateway in front of it/, 'is not behind its gateway'],
  [/is overloaded/, 'is overloaded'],
  [/was called too often/, 'was called too often'],
];

/** Follows the name of a model: `refuses connections`. */
export function describeModelWait(message: string): string {
  return REASONS.find(([said]) => said.test(message))?.[1] ?? 'does not answer';
}
