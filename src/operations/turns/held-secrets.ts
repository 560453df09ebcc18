// The secrets that a run could have met: those of the installation, and those of its user.
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { Definitions } from '../../catalog/definitions.ts';
import { HEADER_SECRET, readSecret, type SecretPlaces } from '../../catalog/reading/secret-file.ts';
import { secretContextOf } from '../../domain/webhooks/webhook.ts';
import { grantMcpServer } from '../../execution/brief/mcp-grant.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import { isSecretName } from '../../outbound/blot.ts';
import { secretsIn } from '../../outbound/redact.ts';
import type { Store } from '../../store/open-store.ts';

export interface HeldSecretParts {
  readonly store: Pick<Store, 'connections' | 'webhooks'>;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly places: SecretPlaces;
  catalog(): Pick<Catalog, 'endpoints'>;
  definitions(): Pick<Definitions, 'mcpServers' | 'connectors'>;
}

/** They are searched for in every text. */
const MAX_SECRETS = 200;

/** At most 200, those of the user first. What can't be read now is left out: the daemon can't use it either. */
export async function heldSecrets(parts: HeldSecretParts, userSeq: number): Promise<string[]> {
  const { places } = parts;
  const definitions = parts.definitions();
  const servers = [...definitions.mcpServers.values()].flatMap((server) => {
    const granted = grantMcpServer(server, places);
    return granted.ok ? granted.grant.secrets : [];
  });
  const clients = [...definitions.connectors.values()].flatMap(({ auth: { clientSecretFile: file } }) => {
    const read = file === null ? null : readSecret(file, places, HEADER_SECRET);
    return read?.ok ? [read.secret] : [];
  });
  const all = [...(await sealedOf(parts, userSeq)), ...ofEndpoints(parts.catalog()), ...servers, ...clients];
  return [...new Set(all.flatMap(secretsIn))].slice(0, MAX_SECRETS);
}

function ofEndpoints({ endpoints }: Pick<Catalog, 'endpoints'>): string[] {
  return [...endpoints.values()].flatMap(({ apiKey, extras }) => [
    ...(apiKey === null ? [] : [apiKey]),
    ...Object.values(extras.headers),
    ...Object.entries(extras.query).flatMap(([name, value]) => (isSecretName(name) ? [value] : [])),
    ...Object.entries(extras.extraBody).flatMap(([name, value]) =>
      isSecretName(name) && typeof value === 'string' ? [value] : [],
    ),
  ]);
}

/** The tokens of the user's connections, and the secrets of the user's webhooks and of the house's. */
async function sealedOf({ store, secrets }: HeldSecretParts, userSeq: number): Promise<string[]> {
  const found: string[] = [];
  const open = (sealed: Uint8Array | null, context: string) => {
    if (sealed === null) return;
    try {
      found.push(secrets.open(sealed, context));
    } catch {
      // Of another master key.
    }
  };
  for (const { id, sealed } of await store.connections.sealedOf(userSeq, MAX_SECRETS)) open(sealed, id);
  for (const { id, secret, previous } of await store.webhooks.sealedOf(userSeq, MAX_SECRETS)) {
    open(secret, secretContextOf(id));
    open(previous, secretContextOf(id));
  }
  return found;
}
