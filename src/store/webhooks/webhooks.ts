// Configurations of webhooks. Secrets are sealed before they come here (J6).
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import {
  type OwnerScope,
  ownerScopeOf,
  ROTATION_MS,
  type Webhook,
  WEBHOOK_LIMITS,
} from '../../domain/webhooks/webhook.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { type Database, FREES } from '../engine/database.ts';
import { plain, rowKind } from '../engine/row.ts';
import type { Reader, Step, Transaction, Value } from '../engine/statement.ts';
import { conditions, readPage } from '../engine/lists.ts';
import { cancelPendingIn, makeCancelLeftOver } from './cancel-pending.ts';
import type { Planning } from './planning.ts';
import { subscribeIn, WEBHOOK, WEBHOOK_COLUMNS } from './webhook-rows.ts';

type Configuration = Pick<
  Webhook,
  'name' | 'url' | 'events' | 'projectId' | 'sessionKinds' | 'timeoutMs' | 'retryCount' | 'retryBackoffMs' | 'enabled'
>;

export interface NewWebhook extends Configuration, Pick<Webhook, 'userSeq'> {
  /** Seals the secret for the webhook of an id (`secretContextOf`); null without one. */
  readonly sealSecret: ((webhookId: number) => Buffer) | null;
}

export type WebhookChanges = Partial<Configuration>;

/** Null leaves a filter out. */
export interface WebhookFilter extends Page {
  readonly ownerScope: OwnerScope | null;
  readonly userSeq: number | null;
  readonly enabled: boolean | null;
}

const COLUMNS = {
  name: 'name',
  url: 'url',
  events: 'events',
  projectId: 'project_id',
  sessionKinds: 'session_kinds',
  timeoutMs: 'timeout_ms',
  retryCount: 'retry_count',
  retryBackoffMs: 'retry_backoff_ms',
  enabled: 'enabled',
} as const satisfies Record<keyof Configuration, string>;

/** What decides which events a webhook wants. */
const FILTERS = ['events', 'projectId', 'sessionKinds', 'enabled'] as const satisfies readonly (keyof Configuration)[];

const BY_ID = `SELECT ${WEBHOOK_COLUMNS} FROM webhooks w WHERE w.id = ? AND w.deleted_at IS NULL`;
const RECORDS = `SELECT ${WEBHOOK_COLUMNS}, u.username FROM webhooks w LEFT JOIN users u ON u.seq = w.user_seq`;

/** A webhook with the name of its owner; null for a system webhook. */
export interface WebhookRecord extends Webhook {
  readonly username: string | null;
}

/** The secrets of a webhook as they are stored. */
export interface SealedSecrets {
  readonly id: number;
  readonly secret: Buffer | null;
  readonly previous: Buffer | null;
}

const SEALED = `SELECT id, secret, previous_secret AS previous FROM webhooks
  WHERE deleted_at IS NULL AND (secret IS NOT NULL OR previous_secret IS NOT NULL)`;

const RECORD = rowKind<WebhookRecord>({ ...WEBHOOK.fields, username: plain });

function makeSealedReads({ read }: Database) {
  return {
    /** The sealed secrets of a user's webhooks and of system webhooks, the newest first of each. */
    sealedOf: read(function* (tx: Reader, userSeq: number, limit: number): Step<SealedSecrets[]> {
      const own = yield* tx.all<SealedSecrets>(`${SEALED} AND user_seq = ? ORDER BY id DESC LIMIT ?`, userSeq, limit);
      return [
        ...own,
        ...(yield* tx.all<SealedSecrets>(`${SEALED} AND user_seq IS NULL ORDER BY id DESC LIMIT ?`, limit)),
      ];
    }),

    /** Those of everybody's webhooks after one, in order. */
    listSealed: read(
      (tx: Reader, afterId: number, limit: number): Step<SealedSecrets[]> =>
        tx.all<SealedSecrets>(`${SEALED} AND id > ? ORDER BY id LIMIT ?`, afterId, limit),
    ),
  };
}

/** The verbs on configurations. Deleted ones are not there. */
export function makeWebhooks(database: Database, planning: Planning) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    ...makeSealedReads(database),
    ...makeChanges(database, planning),

    /** Undefined for an unknown or deleted one. */
    find: read(function* (tx: Reader, id: number): Step<WebhookRecord | undefined> {
      return yield* tx.rows(RECORD).get(`${RECORDS} WHERE w.id = ? AND w.deleted_at IS NULL`, id);
    }),

    /** A page in order of creation. */
    list: read(function* (tx: Reader, { ownerScope, userSeq, enabled, ...page }: WebhookFilter) {
      const isOwned = ownerScope === 'user' ? 'w.user_seq IS NOT NULL' : 'w.user_seq IS NULL';
      const always = ['w.deleted_at IS NULL', ...(ownerScope === null ? [] : [isOwned])];
      const filters = { 'w.user_seq = ?': userSeq, 'w.enabled = ?': enabled === null ? null : Number(enabled) };
      const list = { rows: RECORD, from: 'webhooks w', select: RECORDS, order: 'w.id', ...conditions(always, filters) };
      return (yield* readPage(tx, list, page)) satisfies Listing<WebhookRecord>;
    }),

    /** Takes a new sealed secret, or null for none; the one before signs as well for 24 h (H4). Throws `not_found`. */
    rotateSecret: (id: number, sealed: Buffer | null, note?: Note<Webhook>): Promise<Webhook> =>
      auditedWrite(note, function* (tx) {
        const { hasSecret } = yield* getIn(tx, id);
        const overlaps = hasSecret && sealed !== null;
        yield* tx.run(
          `UPDATE webhooks SET previous_secret = ${overlaps ? 'secret' : 'NULL'}, previous_secret_until = ?, secret = ?,
             updated_at = ? WHERE id = ?`,
          overlaps ? tx.now + ROTATION_MS : null,
          sealed,
          tx.now,
          id,
        );
        return yield* getIn(tx, id);
      }),

    /**
     * Disables a failing webhook with a reason, and cancels its pending deliveries. Returns false when it is not enabled any
     * more, or in another epoch.
     */
    giveUp: write(function* (
      tx: Transaction,
      { id, epoch }: Pick<Webhook, 'id' | 'epoch'>,
      reason: string,
    ): Step<boolean> {
      const webhook = yield* tx.rows(WEBHOOK).get(`${BY_ID} AND w.enabled = 1 AND w.epoch = ?`, id, epoch);
      if (webhook === undefined) return false;
      yield* tx.run(
        'UPDATE webhooks SET enabled = 0, disabled_reason = ?, updated_at = ? WHERE id = ?',
        reason,
        tx.now,
        id,
      );
      yield* subscribeIn(tx, { ...webhook, enabled: false });
      yield* cancelPendingIn(tx, id);
      return true;
    }),
  };
}

/** Thrown to undo enabling a webhook that was disabled meanwhile, with more left to cancel than one commit may. */
class LeftOver extends Error {}

/** The verbs that change subscriptions. Events that were committed before are planned by the old ones first. */
function makeChanges(database: Database, { planThen }: Planning) {
  const auditedWrite = makeAuditedWrite(database);
  const cancelLeftOver = makeCancelLeftOver(database);

  return {
    /** Throws `conflict` when the owner has as many as they may have. */
    create: (webhook: NewWebhook, note?: Note<Webhook>): Promise<Webhook> =>
      planThen(note, (tx) => insertIn(tx, webhook)),

    /**
     * Changes what is given. New filters apply from the next event on; an enabled webhook gets no earlier events (H16), a
     * disabled one's pending deliveries are canceled (H17). Throws `not_found`.
     */
    change: async (id: number, changes: WebhookChanges, note?: Note<Webhook>): Promise<Webhook> => {
      const change = (tx: Transaction) => changeIn(tx, id, changes);
      const movesFilters = FILTERS.some((name) => changes[name] !== undefined);
      for (;;) {
        // What is left of an earlier time must not be sent once it is enabled again.
        if (changes.enabled === true) while (await cancelLeftOver(id));
        try {
          return await (movesFilters ? planThen(note, change) : auditedWrite(note, change));
        } catch (error) {
          if (!(error instanceof LeftOver)) throw error;
        }
      }
    },

    /** Hides it at once; its rows are removed later. Throws `not_found`. */
    delete: (id: number, note?: Note<Webhook>): Promise<Webhook> =>
      auditedWrite(
        note,
        function* (tx) {
          const webhook = yield* getIn(tx, id);
          yield* tx.run(
            `UPDATE webhooks SET enabled = 0, disabled_reason = NULL, secret = NULL, previous_secret = NULL,
               previous_secret_until = NULL, deleted_at = ? WHERE id = ?`,
            tx.now,
            id,
          );
          yield* subscribeIn(tx, { ...webhook, enabled: false });
          return webhook;
        },
        FREES,
      ),
  };
}

function* getIn(tx: Reader, id: number): Step<Webhook> {
  const webhook = yield* tx.rows(WEBHOOK).get(BY_ID, id);
  if (webhook === undefined) throw notFound('Webhook');
  return webhook;
}

function* insertIn(tx: Transaction, webhook: NewWebhook): Step<Webhook> {
  const { userSeq, sealSecret, ...configuration } = webhook;
  const { count } = (yield* tx.get<{ count: number }>(
    'SELECT count(*) AS count FROM webhooks WHERE user_seq IS NOT DISTINCT FROM ? AND deleted_at IS NULL',
    userSeq,
  ))!;
  if (count >= WEBHOOK_LIMITS.perOwner[ownerScopeOf(webhook)])
    throw new ErrandError('conflict', `There are already ${count} webhooks, which is the maximum.`);
  const stored = Object.entries(configuration).map(([name, value]) => storedAs(name as keyof Configuration, value));
  const names = Object.keys(configuration).map((name) => COLUMNS[name as keyof Configuration]);
  const id = yield* tx.insert(
    `INSERT INTO webhooks (user_seq, created_at, updated_at, ${names.join(', ')})
     VALUES (?, ?, ?, ${names.map(() => '?').join(', ')})`,
    userSeq,
    tx.now,
    tx.now,
    ...stored,
  );
  if (sealSecret !== null) yield* tx.run('UPDATE webhooks SET secret = ? WHERE id = ?', sealSecret(id), id);
  const created = yield* getIn(tx, id);
  yield* subscribeIn(tx, created);
  return created;
}

function* changeIn(tx: Transaction, id: number, changes: WebhookChanges): Step<Webhook> {
  const before = yield* getIn(tx, id);
  const moves = changes.url !== undefined && changes.url !== before.url;
  if (moves || (changes.enabled === true && !before.enabled)) {
    const anew = 'epoch = epoch + 1, failing_since = NULL, failures = 0, last_success_at = NULL';
    yield* tx.run(`UPDATE webhooks SET ${anew} WHERE id = ?`, id);
  }
  if (changes.enabled === true && !before.enabled && (yield* cancelPendingIn(tx, id))) throw new LeftOver();
  if (changes.enabled === true) yield* tx.run('UPDATE webhooks SET disabled_reason = NULL WHERE id = ?', id);
  for (const [name, value] of Object.entries(changes)) {
    const column = COLUMNS[name as keyof Configuration];
    yield* tx.run(`UPDATE webhooks SET ${column} = ? WHERE id = ?`, storedAs(name as keyof Configuration, value), id);
  }
  yield* tx.run('UPDATE webhooks SET updated_at = ? WHERE id = ?', tx.now, id);
  const after = yield* getIn(tx, id);
  yield* subscribeIn(tx, after);
  if (!after.enabled) yield* cancelPendingIn(tx, id);
  return after;
}

function storedAs(name: keyof Configuration, value: unknown): Value {
  if (name === 'enabled') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : (value as Value);
}
