// The secrets of an installation: those that a run could have met (the system's, and its user's), and those of everybody else.
import type { Catalog } from '../../../catalog/kinds/models.ts';
import type { Definitions } from '../../../catalog/definitions.ts';
import { HEADER_SECRET, readSecret, type SecretLocations } from '../../../catalog/reading/secret-file.ts';
import type { Pause } from '../../../domain/loop/slices.ts';
import { secretContextOf } from '../../../domain/webhooks/webhook.ts';
import { grantMcpServer } from '../../../execution/brief/mcp-grant.ts';
import type { SecretBox } from '../../../files/secret-box.ts';
import { secretsOfEndpoint } from '../../../outbound/secrets/endpoint-secrets.ts';
import { secretsOfProxies } from '../../../outbound/secrets/proxy-secrets.ts';
import { secretsIn } from '../../../outbound/secrets/redact.ts';
import { waysNow } from '../../../outbound/ways/ways.ts';
import type { Store } from '../../../store/open-store.ts';

export interface HeldSecretParts {
  readonly store: Pick<Store, 'connections' | 'webhooks'>;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly locations: SecretLocations;
  catalog(): Pick<Catalog, 'endpoints'>;
  definitions(): Pick<Definitions, 'mcpServers' | 'connectors'>;
}

/** They are searched for in every text. */
const MAX_SECRETS = 200;

/** At most 200, those of the user first. What can't be read now is left out: the daemon can't use it either. */
export async function heldSecrets(parts: HeldSecretParts, userSeq: number): Promise<string[]> {
  const { locations } = parts;
  const definitions = parts.definitions();
  const servers = [...definitions.mcpServers.values()].flatMap((server) => {
    const granted = grantMcpServer(server, locations);
    return granted.ok ? granted.grant.secrets : [];
  });
  const clients = [...definitions.connectors.values()].flatMap(({ auth: { clientSecretFile: file } }) => {
    const read = file === null ? null : readSecret(file, locations, HEADER_SECRET);
    return read?.ok ? [read.secret] : [];
  });
  const all = [
    ...(await sealedOf(parts, userSeq)),
    ...[...parts.catalog().endpoints.values()].flatMap(secretsOfEndpoint),
    ...servers,
    ...clients,
    ...secretsOfProxies(waysNow()),
  ];
  return [...new Set(all.flatMap(secretsIn))].slice(0, MAX_SECRETS);
}

export interface OtherSecretParts extends Pick<HeldSecretParts, 'secrets'> {
  readonly store: {
    readonly connections: Pick<Store['connections'], 'listSealed'>;
    readonly webhooks: Pick<Store['webhooks'], 'listSealed'>;
  };
}

/** Of everybody's connections, and as many webhooks. Opening one takes some microseconds. */
const MAX_OTHERS = 50_000;
const PER_READ = 500;
/** Shorter ones are words of a language, too. */
const MIN_CHARACTERS = 8;

/** The words of the secrets of all users' connections and webhooks. */
export async function secretsOfEverybody({ store, secrets }: OtherSecretParts, pause: Pause): Promise<Set<string>> {
  const { connections, webhooks } = store;
  const words = new Set<string>();
  const add = (sealed: Uint8Array | null, context: string) => {
    const text = sealed === null ? null : opened(secrets, sealed, context);
    for (const word of text === null ? [] : secretsIn(text)) if (word.length >= MIN_CHARACTERS) words.add(word);
  };
  for await (const { id, sealed } of pages(connections.listSealed, ({ seq }) => seq, pause)) add(sealed, id);
  for await (const { id, secret, previous } of pages(webhooks.listSealed, ({ id: place }) => place, pause)) {
    add(secret, secretContextOf(id));
    add(previous, secretContextOf(id));
  }
  return words;
}

async function* pages<Row>(
  list: (after: number, limit: number) => Promise<Row[]>,
  placeOf: (row: Row) => number,
  pause: Pause,
): AsyncGenerator<Row> {
  for (let read = 0, after = 0; read < MAX_OTHERS; read += PER_READ) {
    const rows = await list(after, PER_READ);
    for (const row of rows) {
      yield row;
      await pause();
    }
    if (rows.length < PER_READ) return;
    after = placeOf(rows.at(-1)!);
  }
}

/** Null when it was sealed under another master key. */
function opened(secrets: HeldSecretParts['secrets'], sealed: Uint8Array, context: string): string | null {
  try {
    return secrets.open(sealed, context);
  } catch {
    return null;
  }
}

/** The tokens of the user's connections, and the secrets of the user's webhooks and of system webhooks. */
async function sealedOf({ store, secrets }: HeldSecretParts, userSeq: number): Promise<string[]> {
  const found: string[] = [];
  const open = (sealed: Uint8Array | null, context: string) => {
    const text = sealed === null ? null : opened(secrets, sealed, context);
    if (text !== null) found.push(text);
  };
  for (const { id, sealed } of await store.connections.sealedOf(userSeq, MAX_SECRETS)) open(sealed, id);
  for (const { id, secret, previous } of await store.webhooks.sealedOf(userSeq, MAX_SECRETS)) {
    open(secret, secretContextOf(id));
    open(previous, secretContextOf(id));
  }
  return found;
}
