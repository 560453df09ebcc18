// What the daemon may reach in addition to the public internet: the administrator's exceptions (J7).

export const EGRESS_PURPOSES = ['image', 'web_fetch', 'mcp', 'connector', 'webhook'] as const;

/** The purpose of a request that leaves the daemon. */
export type EgressPurpose = (typeof EGRESS_PURPOSES)[number];

/** One exception: an address range or a host name, by port and purpose. Exactly one of `cidr` and `host` is not null. */
export interface EgressRule {
  readonly cidr: string | null;
  /** A name in lower case; `*.example.com` stands for every name below it. */
  readonly host: string | null;
  /** Null is every port. */
  readonly ports: readonly number[] | null;
  readonly for: readonly EgressPurpose[];
}
