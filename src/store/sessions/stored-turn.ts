// A turn as it is stored: what its user said, and each step of its run.
import type { Attachment, UserBlock } from '../../domain/sessions/content.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { Usage } from '../../domain/sessions/usage.ts';

/** A recorded tool call. `running`: it had begun and has no recorded result. */
export interface StoredCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly state: 'waiting' | 'running' | 'ended';
  readonly ok: boolean;
  readonly output: string;
}

export interface StoredStep {
  readonly step: number;
  readonly kind: string;
  readonly message: JsonValue;
  readonly text: string;
  readonly usage: Usage;
  readonly calls: readonly StoredCall[];
}

/** All steps of a run. Without their details, its replies followed each other with nothing in between: they are one. */
export function saidTogether(steps: readonly StoredStep[]): readonly StoredStep[] {
  const last = steps.at(-1);
  if (last === undefined || steps.some(({ message, calls }) => message !== null || calls.length > 0)) return steps;
  return [{ ...last, text: steps.flatMap(({ text }) => (text === '' ? [] : [text])).join('\n\n') }];
}

export interface StoredTurn {
  readonly runSeq: number;
  readonly user: readonly UserBlock[];
  readonly attachments: readonly Attachment[];
  readonly steps: readonly StoredStep[];
}
