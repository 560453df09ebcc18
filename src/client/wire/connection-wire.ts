// Connections to services as the daemon answers them.

/** A user's connection, without its secret. */
export interface ConnectionWire {
  readonly id: string;
  readonly connector: string;
  readonly name: string;
  readonly user_id: string;
  readonly username: string;
  readonly state: 'active' | 'failed' | 'revoked';
  readonly last_error: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** How a connection answered when it was tried. */
export interface ConnectionCheckWire {
  readonly connection: ConnectionWire;
  readonly ok: boolean;
  readonly status: number | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
}

/** How a connector's service answered without a credential, and with each connection. */
export interface ConnectorCheckWire {
  readonly connector: string;
  readonly ok: boolean;
  readonly status: number | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  readonly connections: readonly ConnectionCheckWire[];
}

export interface NewConnection {
  readonly user: string;
  readonly connector: string;
  readonly name?: string;
  readonly secret?: string;
}
