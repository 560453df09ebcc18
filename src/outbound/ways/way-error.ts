// Why a connection has no way to its target: an issuer that isn't trusted, or a proxy.

export interface WayFacts {
  /** The code of TLS or of the system; `ERR_PROXY` for what a proxy answered. */
  readonly code: string;
  /** Whether it can pass by itself, as while a proxy is restarted. */
  readonly isDown: boolean;
  readonly cause?: unknown;
}

/** The message is one sentence for users and administrators; it contains no credential. */
export class WayError extends Error {
  override readonly name = 'WayError';
  readonly code: string;
  readonly isDown: boolean;

  constructor(message: string, { code, isDown, cause }: WayFacts) {
    super(message, { cause });
    this.code = code;
    this.isDown = isDown;
  }
}
