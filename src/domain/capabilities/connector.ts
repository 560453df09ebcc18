// Connectors: services that agents may call with a user's credential, which they never see (I4).

/** How a connector authenticates the caller. The credential is sent as `<header>: <prefix><credential>`. */
export type ConnectorAuth = { readonly header: string; readonly prefix: string } & (
  | { readonly kind: 'token' }
  | {
      /** `oauth2_client_credentials` needs nothing of the user; `oauth2_refresh_token` needs the user's refresh token. */
      readonly kind: 'oauth2_client_credentials' | 'oauth2_refresh_token';
      readonly tokenUrl: string;
      readonly clientId: string;
      /** Null for a public client. */
      readonly clientSecret: string | null;
      readonly scopes: readonly string[];
    }
);

export interface Connector {
  readonly name: string;
  readonly description: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly auth: ConnectorAuth;
  /** A PEM file with issuers that are trusted for it, and for its token server, in addition. */
  readonly caFile: string | null;
  /** In upper case. */
  readonly methods: readonly string[];
  /** Patterns of paths below the base address; `*` stands for any characters. */
  readonly paths: readonly string[];
}

export const CONNECTION_STATES = ['active', 'failed', 'revoked'] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** A user's connection to a service. `seq` is the row's integer, used only inside. */
export interface Connection {
  readonly seq: number;
  readonly id: string;
  readonly userSeq: number;
  readonly connector: string;
  readonly name: string;
  readonly state: ConnectionState;
  /** Why it failed, in words. */
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}
