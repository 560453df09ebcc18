// Questions that agents ask their users, and their states (§3.4, I2).
import type { JsonObject, JsonValue } from '../json.ts';

export const USER_INPUT_STATUSES = ['pending', 'answered', 'expired'] as const;
/** `expired`: not answered in time, or the run was stopped. */
export type UserInputStatus = (typeof USER_INPUT_STATUSES)[number];

/** Most bytes of an answer as JSON in UTF-8. */
export const MAX_ANSWER_BYTES = 65_536;

/** A question of a run to the owner of its session. `seq` and the like are the rows' integers, used only inside. */
export interface UserInput {
  readonly seq: number;
  readonly id: string;
  readonly sessionSeq: number;
  readonly sessionId: string;
  readonly runId: string;
  readonly userSeq: number;
  readonly userId: string;
  readonly username: string;
  readonly toolUseId: string;
  readonly toolName: string;
  /** The call's arguments: the question and what may be chosen. */
  readonly toolInput: JsonObject;
  readonly status: UserInputStatus;
  /** Null until it is answered. */
  readonly answers: JsonValue | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly answeredAt: number | null;
}
