// Configurations of webhooks (H2): everyone has their own, and administrators the system webhooks.
import type { Happened } from '../../events/wakes.ts';
import { ErrandError, unprocessable } from '../../domain/errors.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Settings } from '../../domain/settings.ts';
import { type OwnerScope, secretContextOf, type Webhook, WEBHOOK_LIMITS } from '../../domain/webhooks/webhook.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import { checkAddress } from '../../outbound/check-address.ts';
import type { Page } from '../../domain/listing.ts';
import type { Store } from '../../store/open-store.ts';
import type { NewWebhook, WebhookChanges, WebhookRecord } from '../../store/webhooks/webhooks.ts';
import { type Access, scopeOf } from '../access.ts';
import type { Audit, AuditTarget } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** What can be said of a webhook; an absent field stays as it is, or gets its default (H1). */
export interface WebhookInput extends Partial<Omit<WebhookChanges, 'projectId'>> {
  readonly scope?: 'global' | 'project';
  readonly projectId?: string | null;
  /** Null: without one. */
  readonly secret?: string | null;
}

export interface NewWebhookInput
  extends Omit<WebhookInput, 'name' | 'url' | 'events'>,
    Pick<Webhook, 'name' | 'url' | 'events'> {
  /** Null: a user's own, but a system webhook for the operator, who is no user. */
  readonly ownerScope: OwnerScope | null;
  /** The owner's name or id, where an administrator makes it for another. */
  readonly user: string | null;
}

/** Null leaves a filter out. */
export interface WebhookQuery extends Page {
  readonly ownerScope: OwnerScope | null;
  readonly enabled: boolean | null;
}

export interface WebhookOperationParts {
  readonly store: Pick<Store, 'webhooks' | 'users'>;
  readonly access: Pick<Access, 'webhook'>;
  readonly auditedAccess: Pick<AuditedAccess, 'webhook'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly secrets: Pick<SecretBox, 'seal'>;
  settings(): Settings;
  readonly happened: Happened;
}

/** The target of a verb that returns the webhook. */
const theWebhook = ({ id }: Webhook): AuditTarget => ({ id: String(id) });

/** The verbs. Those that take an id throw as `Access.webhook` does; those that take an address throw `bad_request` for one that may not be reached (H17). */
export function makeWebhookOperations(parts: WebhookOperationParts) {
  const { store, access, auditedAccess, audit, secrets, settings, happened } = parts;

  const requireAddress = (url: string) => checkAddress({ purpose: 'webhook', allow: settings().egress.allow }, url);

  /** The record as it is now, after telling whom the change concerns. */
  async function changedRecord(caller: Caller, { id }: Webhook): Promise<WebhookRecord> {
    happened('webhook changed');
    return access.webhook(caller, id);
  }

  return {
    /** The webhooks within the caller's reach, the oldest first. System webhooks are for administrators. */
    listWebhooks: async (caller: Caller, { ownerScope, enabled, ...page }: WebhookQuery) => {
      if (ownerScope === 'system') requireAdministrator(caller);
      return store.webhooks.list({ ownerScope, enabled, userSeq: scopeOf(caller).userSeq, ...page });
    },

    getWebhook: auditedAccess.webhook,

    createWebhook: async (caller: Caller, input: NewWebhookInput): Promise<WebhookRecord> => {
      const { secret = null } = input;
      const userSeq = await ownerOf(store, caller, input);
      const projectId = projectOf(input, null);
      if (userSeq === null && projectId !== null) throw globalOnly();
      requireAddress(input.url);
      const sealSecret = secret === null ? null : (id: number) => secrets.seal(secret, secretContextOf(id));
      const webhook = { ...withDefaults(input), userSeq, projectId, sealSecret };
      const note = audit.change(caller, 'webhook.create', theWebhook);
      return changedRecord(caller, await store.webhooks.create(webhook, note));
    },

    /** New filters apply from the next event on. A new secret overlaps with the one before for 24 h (H4). */
    changeWebhook: async (caller: Caller, id: number, input: WebhookInput): Promise<WebhookRecord> => {
      const before = await access.webhook(caller, id);
      const { scope, projectId: _projectId, secret, ...rest } = input;
      if (rest.url !== undefined) requireAddress(rest.url);
      const movesProject = scope !== undefined || input.projectId !== undefined;
      const projectId = projectOf(input, before.projectId);
      if (movesProject && before.userSeq === null && projectId !== null) throw globalOnly();
      const changes: WebhookChanges = { ...rest, ...(movesProject && { projectId }) };
      if (Object.keys(changes).length === 0 && secret === undefined) return auditedAccess.webhook(caller, id);
      const note = () => audit.change(caller, 'webhook.change', theWebhook);
      if (Object.keys(changes).length > 0) await store.webhooks.change(id, changes, note());
      if (secret !== undefined) {
        const sealed = secret === null ? null : secrets.seal(secret, secretContextOf(id));
        await store.webhooks.rotateSecret(id, sealed, note());
      }
      return changedRecord(caller, before);
    },

    /** What is pending of it is canceled. */
    deleteWebhook: async (caller: Caller, id: number): Promise<WebhookRecord> => {
      const webhook = await access.webhook(caller, id);
      await store.webhooks.delete(id, audit.change(caller, 'webhook.delete', theWebhook));
      happened('webhook changed');
      return webhook;
    },
  };
}

/** The configuration with the defaults of H1. */
function withDefaults(input: NewWebhookInput): Omit<NewWebhook, 'userSeq' | 'projectId' | 'sealSecret'> {
  return {
    name: input.name,
    url: input.url,
    events: input.events,
    sessionKinds: input.sessionKinds ?? null,
    timeoutMs: input.timeoutMs ?? WEBHOOK_LIMITS.timeoutMs.default,
    retryCount: input.retryCount ?? WEBHOOK_LIMITS.retryCount.default,
    retryBackoffMs: input.retryBackoffMs ?? WEBHOOK_LIMITS.retryBackoffMs.default,
    enabled: input.enabled ?? true,
  };
}

/** Whose webhook it becomes: a user's `seq`, or null for a system webhook. */
async function ownerOf(
  { users }: Pick<Store, 'users'>,
  caller: Caller,
  { ownerScope, user }: NewWebhookInput,
): Promise<number | null> {
  const operator = caller.kind === 'operator';
  if ((ownerScope ?? (operator && user === null ? 'system' : 'user')) === 'system') {
    requireAdministrator(caller);
    if (user !== null) throw unprocessable('user', 'must be left out for a system webhook');
    return null;
  }
  if (user !== null) {
    requireAdministrator(caller);
    return (await users.get(user)).seq;
  }
  if (operator) throw unprocessable('user', 'must name the owner: the operator has no events');
  return caller.user.seq;
}

/** What scope and project come to; `before` is the project as it is. */
function projectOf({ scope, projectId }: WebhookInput, before: string | null): string | null {
  const project = projectId === undefined ? before : projectId;
  if (scope === 'global') {
    if (typeof projectId === 'string') throw unprocessable('project_id', 'must be left out in the scope global');
    return null;
  }
  if (scope === 'project' && project === null) throw unprocessable('project_id', 'is required in the scope project');
  return project;
}

function requireAdministrator(caller: Caller): void {
  if (caller.reach !== 'all')
    throw new ErrandError('forbidden', 'Only administrators have system webhooks, or make those of others.');
}

const globalOnly = () => unprocessable('scope', 'must be global for a system webhook');
