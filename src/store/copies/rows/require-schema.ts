// Rows are copied between databases of one schema.
import { ErrandError } from '../../../domain/errors.ts';
import { refusalOfSchema, SCHEMA_VERSION } from '../../engine/schema.ts';

/** Throws `conflict` for any other version; 0: there is none. `name`: where a sentence begins. */
export function requireSchema(version: number, name: string): void {
  if (version === SCHEMA_VERSION) return;
  if (version === 0) throw new ErrandError('conflict', `${name} is not a database of Errand.`);
  const refusal =
    refusalOfSchema(version) ??
    `has schema version ${version}, older than the ${SCHEMA_VERSION} of this Errand. Start the daemon once with it, which brings it up to date.`;
  throw new ErrandError('conflict', `${name} ${refusal}`);
}
