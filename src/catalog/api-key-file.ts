// Reads the API key of an endpoint from the file or the service credential that models.yaml names (J3, J6).
import path from 'node:path';
import { readSmallFile } from './read-small-file.ts';

const MAX_KEY_BYTES = 16 * 1024;
const CREDENTIAL = /^credential:(.*)$/s;
const CREDENTIAL_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
// Anything else would break the header that the key travels in.
const KEY = /^[\x21-\x7e]+$/;

/** Where relative key files and credentials lie. */
export interface KeyPlaces {
  readonly configDir: string;
  /** systemd's `$CREDENTIALS_DIRECTORY`; null when there is none. */
  readonly credentialsDirectory: string | null;
}

export type ApiKeyRead = { readonly ok: true; readonly apiKey: string } | { readonly ok: false; readonly why: string };

function locate(reference: string, places: KeyPlaces): { path: string } | { why: string } {
  const credential = CREDENTIAL.exec(reference)?.[1];
  if (credential === undefined) return { path: path.resolve(places.configDir, reference) };
  if (!CREDENTIAL_NAME.test(credential)) return { why: 'must name a credential, as in credential:NAME' };
  if (places.credentialsDirectory === null) {
    return { why: 'names a service credential, but $CREDENTIALS_DIRECTORY is not set' };
  }
  return { path: path.join(places.credentialsDirectory, credential) };
}

/**
 * The key in the file that `reference` names: an absolute path, one relative to the config directory, or
 * `credential:NAME`. White space around it is dropped. `why` says what is wrong and never holds the content.
 */
export function readApiKey(reference: string, places: KeyPlaces): ApiKeyRead {
  const place = locate(reference, places);
  if ('why' in place) return { ok: false, why: place.why };
  const read = readSmallFile(place.path, MAX_KEY_BYTES);
  if (read.kind === 'missing') return { ok: false, why: `names a file that does not exist: ${place.path}` };
  if (read.kind === 'unreadable') return { ok: false, why: `${place.path} ${read.why}` };
  const apiKey = read.text.trim();
  if (KEY.test(apiKey)) return { ok: true, apiKey };
  const fault = apiKey === '' ? 'is empty' : 'must hold one key on one line';
  return { ok: false, why: `${place.path} ${fault}` };
}
