// Whether an address may be reached at all, before anyone saves it.
import { ErrandError } from '../domain/errors.ts';
import { hostPortOf } from './address-rules.ts';
import { EgressError, type EgressPolicy } from './egress.ts';
import { requireForm } from './guarded-connect.ts';
import { readUrl } from './hop.ts';

/**
 * Throws `bad_request` for an address that the policy refuses by its form. A name isn't resolved: the reply, and how long it takes, would
 * tell which names this network knows. Each connection is checked when it is opened.
 */
export function checkAddress(policy: EgressPolicy, url: string): void {
  try {
    requireForm(policy, hostPortOf(readUrl(url)));
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new ErrandError('bad_request', error.message, { cause: error });
  }
}
