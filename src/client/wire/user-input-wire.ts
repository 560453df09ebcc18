// Questions of agents to their users, as the management interface tells them.
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { UserInputStatus } from '../../domain/user-input.ts';

/** A question. `answers` and `answered_at` are null until it is answered. */
export interface UserInputWire {
  readonly request_id: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly tool_use_id: string;
  readonly tool_name: string;
  readonly tool_input: JsonObject;
  readonly status: UserInputStatus;
  readonly answers: JsonValue | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly answered_at: string | null;
}

/** What to list of them. */
export interface UserInputQuery {
  readonly session?: string;
  readonly status?: UserInputStatus;
  readonly limit?: number;
}
