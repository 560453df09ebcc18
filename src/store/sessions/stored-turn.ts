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

export interface StoredTurn {
  readonly runSeq: number;
  readonly user: readonly UserBlock[];
  readonly attachments: readonly Attachment[];
  readonly steps: readonly StoredStep[];
}
