// HTTP connections to what administrators name: to any address, by the ways of this machine.
import type { Agent } from 'undici';
import { makeConnector } from './connector.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export interface OwnAgentOptions extends Omit<Agent.Options, 'connect' | 'allowH2'> {
  /** A PEM file with issuers that are trusted in addition. */
  readonly caFile?: string | null;
  readonly connectTimeoutMs?: number;
}

/** Opens an agent. Its library is loaded with the first one. */
export async function openOwnAgent(options: OwnAgentOptions = {}): Promise<Agent> {
  const { caFile, connectTimeoutMs: timeoutMs = CONNECT_TIMEOUT_MS, ...others } = options;
  const { Agent: Connections, buildConnector: build } = await import('undici');
  return new Connections({ ...others, allowH2: false, connect: makeConnector({ build, timeoutMs, caFile }) });
}
