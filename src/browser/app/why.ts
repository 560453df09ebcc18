// Why somebody may not look on, or not yet. Pure.
import { ClientError } from '../../client/transport/client-error.ts';

/** When somebody was turned away: with a code, right after it was taken, with a key that they pasted, at first, or after they had looked on. */
export type Occasion = 'code' | 'fresh' | 'key' | 'first' | 'later';

const MAY_NOT = 'This key may not look on: that takes a key of scope admin, of an administrator.';

const TEXTS: Readonly<Record<Occasion, Readonly<Record<number, string>>>> = {
  code: {
    401: 'This link was used already, or it is older than five minutes. Ask for a new one.',
    403: 'This link is of somebody who may not look on: that takes a key of scope admin, of an administrator.',
    404: 'This daemon has no Office Mode in a browser.',
    429: 'Too many log-ins were tried from here. This link is still good: open it again in a minute.',
  },
  fresh: {
    401: 'Your browser did not keep the login: allow cookies for this site, or open it by HTTPS if that is how the daemon is meant to be reached. Then ask for a new link.',
    403: MAY_NOT,
  },
  key: {
    401: 'This key is not valid.',
    403: MAY_NOT,
  },
  first: {
    403: MAY_NOT,
  },
  later: {
    401: 'Your login has ended: its eight hours are over, or its key was revoked.',
    403: 'Your login has ended: its key may not look on any more, as its owner is no administrator.',
  },
};

/** Why somebody was turned away; empty when there is nothing to say yet. */
export function whyText(occasion: Occasion, error: unknown): string {
  if (!(error instanceof ClientError)) return '';
  const { failure } = error;
  if (failure.kind !== 'refused') return `${error.message} Try again in a moment.`;
  const known = TEXTS[occasion][failure.status];
  if (known !== undefined) return known;
  return occasion === 'first' && failure.status === 401 ? '' : error.message;
}

/** Why somebody who wanted to leave could not. */
export const stillInText = ({ message }: ClientError): string => `This browser is still logged in. ${message}`;
