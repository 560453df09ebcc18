// Reads a secret from the file or the service credential that a configuration file names (J6).
import path from 'node:path';
import { KB } from '../../domain/byte-units.ts';
import { readSmallFile } from './read-small-file.ts';

const MAX_SECRET_BYTES = 16 * KB;
const CREDENTIAL = /^credential:(.*)$/s;
const CREDENTIAL_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Where relative secret files and credentials are. */
export interface SecretLocations {
  readonly configDir: string;
  /** systemd's `$CREDENTIALS_DIRECTORY`; null when there is none. */
  readonly credentialsDirectory: string | null;
  /**
   * For a check outside the service: without a credentials directory, references to credentials count as correct and are
   * collected here. The secrets that are returned then are placeholders, and must not be used.
   */
  readonly unresolved?: Set<string>;
}

/** `why` never contains the content. */
export type SecretRead = { readonly ok: true; readonly secret: string } | { readonly ok: false; readonly why: string };

/** What a secret must be for its use. */
export interface SecretForm {
  readonly passes: (secret: string) => boolean;
  readonly mustHold: string;
}

/** The value of an HTTP header. */
export const HEADER_SECRET: SecretForm = {
  passes: (secret) => /^[\x20-\x7e]+$/.test(secret),
  mustHold: 'must contain one line of printable ASCII',
};

/** The value of an environment variable; it can have several lines. */
export const TEXT_SECRET: SecretForm = {
  passes: (secret) => !secret.includes('\u0000'),
  mustHold: 'must not contain NUL characters',
};

/** Whether a reference is right, but only the service can follow it. */
export function isOutOfReach(reference: string, { credentialsDirectory, unresolved }: SecretLocations): boolean {
  const name = CREDENTIAL.exec(reference)?.[1];
  return unresolved !== undefined && credentialsDirectory === null && name !== undefined && CREDENTIAL_NAME.test(name);
}

/** Where a reference leads: an absolute path, one relative to the config directory, or `credential:NAME`. */
export function locateSecret(reference: string, locations: SecretLocations): { path: string } | { why: string } {
  const credential = CREDENTIAL.exec(reference)?.[1];
  if (credential === undefined) return { path: path.resolve(locations.configDir, reference) };
  if (!CREDENTIAL_NAME.test(credential)) return { why: 'must name a credential, as in credential:NAME' };
  if (locations.credentialsDirectory === null) {
    return { why: 'refers to a service credential, but $CREDENTIALS_DIRECTORY is not set' };
  }
  return { path: path.join(locations.credentialsDirectory, credential) };
}

/**
 * The secret in the file that `reference` names: an absolute path, one relative to the config directory, or
 * `credential:NAME`. White space around it is removed.
 */
export function readSecret(reference: string, locations: SecretLocations, form: SecretForm): SecretRead {
  if (isOutOfReach(reference, locations)) {
    locations.unresolved?.add(reference);
    return { ok: true, secret: '-' };
  }
  const place = locateSecret(reference, locations);
  if ('why' in place) return { ok: false, why: place.why };
  const read = readSmallFile(place.path, MAX_SECRET_BYTES);
  if (read.kind === 'missing') return { ok: false, why: `refers to a file that does not exist: ${place.path}` };
  if (read.kind === 'unreadable') return { ok: false, why: `${place.path} ${read.why}` };
  const secret = read.text.trim();
  if (secret === '') return { ok: false, why: `${place.path} is empty` };
  return form.passes(secret) ? { ok: true, secret } : { ok: false, why: `${place.path} ${form.mustHold}` };
}
