// Whether an address may be reached at all, before anyone saves it. Each connection is checked again when it is opened.
import { ErrandError } from '../domain/errors.ts';
import { placeOf } from './address-rules.ts';
import { EgressError, type EgressPolicy } from './egress.ts';
import { resolvePlace } from './guarded-connect.ts';
import { readUrl } from './hop.ts';

/** Throws `bad_request` for an address that the policy refuses. A name that can't be found now, within five seconds, may be found later. */
export async function checkAddress(policy: EgressPolicy, url: string): Promise<void> {
  try {
    await resolvePlace(policy, placeOf(readUrl(url)));
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    if (error.kind === 'refused') throw new ErrandError('bad_request', error.message, { cause: error });
  }
}
