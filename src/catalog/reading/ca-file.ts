// A file of issuers that are trusted in addition, as settings and definitions name it.
import { readBundle } from '../../outbound/ways/bundle.ts';
import { orNull, type Schema, text } from './schema.ts';
import { isOutOfReach, locateSecret, type SecretLocations } from './secret-file.ts';

const isFilled = (value: string) => value.trim() !== '';

/** The key `ca_file` of a definition. */
export const CA_FILE: Schema = orNull(text('a path, or credential:NAME', isFilled));

/** `path`: absolute; null for none. */
export type CaFileRead =
  | { readonly ok: true; readonly path: string | null }
  | { readonly ok: false; readonly why: string };

/** The file of a reference that matches its schema, once it was read: one that is no bundle of certificates is refused. */
export function readCaFile(reference: unknown, locations: SecretLocations): CaFileRead {
  if (typeof reference !== 'string' || !isFilled(reference)) return { ok: true, path: null };
  if (isOutOfReach(reference, locations)) {
    locations.unresolved?.add(reference);
    return { ok: true, path: null };
  }
  const place = locateSecret(reference, locations);
  if ('why' in place) return { ok: false, why: place.why };
  const read = readBundle(place.path);
  return read.ok
    ? { ok: true, path: place.path }
    : { ok: false, why: `refers to a file that can't be used: ${read.why}` };
}
