// The client's verbs that check something, which may take minutes: models, MCP servers, the whole installation.
import type { McpServerCheckWire, ModelCheckWire, ModelWire } from '../wire/capabilities/model.ts';
import type { ListWire } from '../wire/listing.ts';
import { callManagement } from './transport/exchange.ts';
import type { Address, Call } from './transport/transport.ts';

/** Longer than the daemon's limit of any check. */
const CHECK_TIMEOUT_MS = 1_200_000;

export interface Checks {
  readonly models: {
    list(): Promise<ListWire<ModelWire>>;
    /** Tests it with real calls, which may take minutes. */
    check(name: string, wish: { readonly context: boolean }): Promise<ModelCheckWire>;
  };
  readonly mcpServers: {
    /** Starts it as a run would, by name or id. */
    check(ref: string): Promise<McpServerCheckWire>;
  };
}

/** Makes the verbs. `signal` ends what is in progress; a check then ends in the daemon, too. */
export function makeChecks(address: Address, signal?: AbortSignal): Checks {
  const call = <T>(method: Call['method'], path: string, more: Pick<Call, 'body' | 'timeoutMs'> = {}) =>
    callManagement<T>(address, { method, path: `/api/v1${path}`, ...more, ...(signal && { signal }) });
  const check = <T>(noun: string, ref: string, body: Pick<Call, 'body'> = {}) =>
    call<T>('POST', `/${noun}/${encodeURIComponent(ref)}/check`, { timeoutMs: CHECK_TIMEOUT_MS, ...body });
  return {
    models: {
      list: () => call('GET', '/models'),
      check: (name, wish) => check('models', name, { body: wish }),
    },
    mcpServers: { check: (ref) => check('mcp-servers', ref) },
  };
}
