// The webhooks that need someone: those that fail, and those that the daemon disabled.
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

export interface TroubledWebhook {
  readonly id: number;
  readonly name: string;
  /** The first failure since the last success. */
  readonly failingSince: number | null;
  /** Failed attempts since then. */
  readonly failures: number;
  /** Why the daemon disabled it; null while it is enabled. */
  readonly disabledReason: string | null;
}

export interface WebhookTrouble {
  readonly failing: number;
  readonly disabled: number;
  /** Some of them, those that are disabled first. */
  readonly webhooks: readonly TroubledWebhook[];
}

// The condition of the index `webhooks_troubled`, as it is written there.
const TROUBLED = `(disabled_reason IS NOT NULL OR (failing_since IS NOT NULL AND enabled = 1))`;

/** Makes the verb that counts them, and lists at most so many. */
export function makeWebhookTrouble({ read }: Database) {
  return read(function* (tx: Reader, limit: number): Step<WebhookTrouble> {
    const counts = (yield* tx.get<{ total: number; disabled: number }>(
      `SELECT count(*) AS total, count(disabled_reason) AS disabled FROM webhooks WHERE ${TROUBLED}`,
    ))!;
    const webhooks = yield* tx.all<TroubledWebhook>(
      `SELECT id, name, failing_since, failures, disabled_reason FROM webhooks
       WHERE ${TROUBLED} ORDER BY disabled_reason IS NULL, id LIMIT ?`,
      limit,
    );
    return { failing: counts.total - counts.disabled, disabled: counts.disabled, webhooks };
  });
}
