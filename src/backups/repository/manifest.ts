// Seals manifests, and reads them: one that was altered is refused.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { MB } from '../../domain/byte-units.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { AuditLink } from '../../domain/people/audit-anchor.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import { refusalOfSchema, SCHEMA_VERSION } from '../../store/engine/schema.ts';
import { readWhole } from '../../wire/shapes/composites.ts';
import { FORMAT, manifest as manifestShape, type Manifest } from '../../wire/backups/manifest.ts';

/** A manifest of so many bytes is not read. */
export const MAX_MANIFEST_BYTES = 16 * MB;

/** The text of a manifest, sealed with the key of the installation. */
export function sealManifest(facts: Omit<Manifest, 'seal' | 'sha256'>, key: Uint8Array): string {
  const sealed = { ...facts, seal: sealOf(facts, key) };
  return JSON.stringify({ ...sealed, sha256: digestOf(sealed) });
}

/** Reads a manifest. Throws `conflict` when it was altered or another Errand made it in a format of its own. */
export function readManifest(text: string, name: string): Manifest {
  const found = parse(text);
  if (found === undefined || !isJsonObject(found)) throw damaged(name);
  if (typeof found['format'] === 'number' && found['format'] > FORMAT)
    throw new ErrandError(
      'conflict',
      `The backup ${name} has a newer format. Use the Errand that made it, or a newer one.`,
    );
  const { sha256, ...rest } = found;
  if (sha256 !== digestOf(rest)) throw damaged(name);
  const read = readWhole(manifestShape, found);
  if (read.id !== name) throw damaged(name);
  return read;
}

/** Throws `conflict` when its database is of a newer Errand, or of one that is too old: others are migrated. */
export function requireKnownSchema({ schema_version: version, errand_version }: Manifest): void {
  if (version > SCHEMA_VERSION)
    throw new ErrandError('conflict', `The backup was made by a newer Errand, ${errand_version}. Use that one.`);
  const refusal = refusalOfSchema(version);
  if (refusal !== null) throw new ErrandError('conflict', `The database of the backup ${refusal}`);
}

/** Whether the audit log ends where the manifest says; null for an empty one. */
export function endsAs({ audit }: Manifest, end: AuditLink | null): boolean {
  return end?.id === audit?.last_id && end?.hash === audit?.last_hash;
}

/** Whether the installation with this key has sealed the manifest. */
export function isSealedWith(manifest: Manifest, key: Uint8Array): boolean {
  const { seal, sha256: _, ...facts } = manifest;
  return timingSafeEqual(Buffer.from(seal, 'hex'), Buffer.from(sealOf(facts, key), 'hex'));
}

const digestOf = (facts: object) => createHash('sha256').update(JSON.stringify(facts)).digest('hex');
const sealOf = (facts: object, key: Uint8Array) => createHmac('sha256', key).update(inOrder(facts)).digest('hex');

/** As text that doesn't depend on the order of the fields. */
function inOrder(facts: object): string {
  return JSON.stringify(facts, (_, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function parse(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

function damaged(name: string): ErrandError {
  return new ErrandError('conflict', `The manifest of the backup ${name} was altered or is damaged.`);
}
