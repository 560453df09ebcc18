// People, their API keys, and the caller that a credential resolves to.
import type { CapabilityConfig } from '../capabilities/capability-config.ts';

export const ROLES = ['admin', 'user'] as const;
export type Role = (typeof ROLES)[number];

/** A person on whose behalf agents work (B1). `seq` is the row's integer, used only inside. */
export interface User {
  readonly seq: number;
  readonly id: string;
  readonly username: string;
  readonly fullName: string;
  readonly department: string;
  readonly role: Role;
  readonly teamId: string | null;
  readonly functionalRole: string | null;
  /** Name of a model configuration; its model is the account's default. */
  readonly scenario: string | null;
  readonly disabled: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A group of people with a budget. Not to be confused with an expert team, which is made of agents. */
export interface Team {
  readonly id: string;
  readonly name: string;
  readonly budgetUsd: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const KEY_SCOPES = ['conversation', 'global', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** An API key without its secret (B2). `model` null means automatic: the owner's default model. */
export interface ApiKey {
  readonly seq: number;
  /** The public id: the eight characters after `errand_`. */
  readonly id: string;
  readonly userSeq: number;
  readonly name: string;
  readonly scope: KeyScope;
  readonly lastFour: string;
  readonly model: string | null;
  /** `free`, `expert:NAME` or `team:NAME`. */
  readonly target: string;
  /** What was chosen for free mode; a field that is absent follows the defaults of the definitions. */
  readonly capabilityConfig: Partial<CapabilityConfig>;
  readonly projectId: string | null;
  /** How its sessions are found for clients that name none, as `continueByOf` reads it; null: not at all. */
  readonly continueBy: string | null;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  readonly createdAt: number;
}

/** An API key with its owner, as a credential that was accepted. */
export interface KeyIdentity {
  readonly kind: 'key';
  readonly user: User;
  readonly key: ApiKey;
}

/** The user of a login token (§2.1). */
export interface TokenIdentity {
  readonly kind: 'token';
  readonly user: User;
}

/** Whom a request comes from: an API key, a login token's user, or the local operator behind the control socket (K1). */
export type Identity = KeyIdentity | TokenIdentity | { readonly kind: 'operator' };

/** A key on a route for programs. It reaches its own sessions, whatever its scope. */
export type KeyCaller = KeyIdentity & { readonly reach: 'key' };

/** A person on a route for people, who reaches their own things. */
export type UserCaller = TokenIdentity & { readonly reach: 'user' };

/** Where a request comes from, as the audit log names it: the address is `socket` on the control socket. */
export interface Origin {
  readonly address: string;
  readonly requestId: string;
}

/** The operator, or an administrator on a route for people or for administrators, who reaches everything. */
export type Administrator = Identity & { readonly reach: 'all'; readonly origin: Origin };

/** An identity, and how far it reaches on the route that it came by. */
export type Caller = KeyCaller | UserCaller | Administrator;

/** Whom a caller's requests are charged to: a user, by id, or the operator. */
export function ownerOf(caller: Identity): string {
  return caller.kind === 'operator' ? 'operator' : caller.user.id;
}
