// Fingerprints of what all nodes of an installation should have configured alike (L6).
import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { NodeFacts } from '../domain/nodes/node.ts';
import type { LiveConfig } from './live/live-config.ts';
import { OPTIONS } from './options.ts';

/** 48 bits tell two values apart. */
const CHARACTERS = 8;

export interface FingerprintParts {
  readonly live: Pick<LiveConfig, 'describe' | 'catalog' | 'definitions' | 'onChange'>;
  /** Its place doesn't matter: paths in it are compared without it. */
  readonly configDir: string;
  /** The same at every node. Definitions have keys of models, which nobody may guess from a fingerprint. */
  readonly key: Uint8Array;
}

/** Returns what makes the fingerprints, anew only when the configuration has changed: of settings that aren't a node's own nor their default, and of each kind of definitions. */
export function makeFingerprints({
  live,
  configDir,
  key,
}: FingerprintParts): () => NonNullable<NodeFacts['configuration']> {
  const print = (value: unknown) =>
    createHmac('sha256', key)
      .update(canonical(value, `${configDir}/`))
      .digest('base64url')
      .slice(0, CHARACTERS);
  const make = () =>
    Object.fromEntries([...settingsIn(live), ...definitionsIn(live)].map(([name, value]) => [name, print(value)]));
  let current: ReturnType<typeof make> | undefined;
  live.onChange(() => (current = undefined));
  return () => (current ??= make());
}

const settingsIn = ({ describe }: FingerprintParts['live']): (readonly [string, unknown])[] =>
  describe()
    .filter(({ name, value }) => OPTIONS[name].isOfNode !== true && !isDeepStrictEqual(value, OPTIONS[name].fallback))
    .map(({ name, value }) => [name, value]);

function definitionsIn({ catalog, definitions }: FingerprintParts['live']): (readonly [string, unknown])[] {
  const { endpoints, models, scenarios, defaultScenario } = catalog();
  const { experts, teams, skills, plugins, mcpServers, connectors } = definitions();
  return Object.entries({
    endpoints,
    models,
    scenarios: { scenarios, defaultScenario },
    experts,
    teams,
    skills,
    plugins,
    mcp_servers: mcpServers,
    connectors,
  });
}

/** The same text for the same value, in whatever order its keys are. */
function canonical(value: unknown, prefix: string): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'string') return part.startsWith(prefix) ? part.slice(prefix.length) : part;
    if (part instanceof Map) return inOrder([...(part as Map<string, unknown>)]);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return inOrder(Object.entries(part));
  });
}

const inOrder = (entries: readonly [string, unknown][]) =>
  Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
