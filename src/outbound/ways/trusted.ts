// Whom connections trust: the list of Node.js, the system's store, and the files that administrators name.
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { findSystemStore, isWhole, readBundle, readSystemStore, versionOf } from './bundle.ts';
import { WayError } from './way-error.ts';
import type { Ways } from './ways.ts';

interface Known {
  readonly version: string;
  readonly context: SecureContext;
}

/** One for each set of files, in each thread: making one takes some milliseconds. */
const contexts = new Map<string, Known>();
const MAX_CONTEXTS = 64;

/**
 * What a TLS connection trusts, as the files are now. `caFile`: one for this target alone. While a file can't be read, what
 * was read before stays in effect; without that, throws `WayError`.
 */
export function trustedContext({ systemStore, caFile: common }: Ways, caFile: string | null): SecureContext {
  const store = systemStore ?? findSystemStore();
  const files = [common, caFile].filter((file) => file !== null);
  const name = JSON.stringify([store, ...files]);
  const known = contexts.get(name);
  const version = [store ?? '', ...files].map(versionOf).join('\n');
  if (known?.version === version) return known.context;
  const own: string[] = [];
  for (const file of files) {
    const read = readBundle(file);
    if (read.ok) own.push(...read.certificates);
    else if (known !== undefined) return known.context;
    else throw new WayError(`The file of trusted issuers ${read.why}.`, { code: 'ERR_CA_FILE', isDown: false });
  }
  const context = makeContext(store === undefined ? [] : readSystemStore(store), own);
  if (contexts.size >= MAX_CONTEXTS) contexts.clear();
  contexts.set(name, { version, context });
  return context;
}

function makeContext(system: readonly string[], own: readonly string[]): SecureContext {
  const make = (of: readonly string[]) =>
    createSecureContext({
      ca: [...new Set([...getCACertificates('default'), ...of, ...own].map((one) => one.trim()))],
      // As curl does: an issuer in the middle of a chain can be trusted without the one above it.
      allowPartialTrustChain: true,
    });
  try {
    return make(system);
  } catch {
    return make(system.filter(isWhole));
  }
}
