// What the addresses in a reply begin with: `public_url`, or, where nobody has set it, what a trusted proxy says of the request.
import type { IncomingMessage } from 'node:http';
import { publicBaseOf } from '../../domain/publishing/public-address.ts';
import type { Settings } from '../../domain/settings.ts';
import { type IsTrustedProxy, peerAddressOf } from './client-address.ts';

/** What the addresses in one reply begin with, without a trailing slash. */
export interface Bases {
  /** Addresses of the daemon itself. */
  readonly own: string;
  /** Addresses of what is published. */
  readonly shares: string;
}

/** The bases of the reply to a request. `authority` is the host that it names, with its port. */
export type BasesOf = (req: IncomingMessage, authority: string | undefined) => Bases;

export interface BasesParts {
  readonly settings: () => Pick<Settings, 'publicUrl' | 'shareOrigin'>;
  /** Whether an administrator has set `public_url`. Otherwise it follows from the listening address. */
  readonly isPublicUrlSet: () => boolean;
  readonly isTrustedProxy: IsTrustedProxy;
}

/**
 * Makes the reader. A request counts only where `public_url` isn't set, and only from a trusted proxy that names its scheme:
 * anyone else could invent both scheme and host.
 */
export function makeBasesOf({ settings, isPublicUrlSet, isTrustedProxy }: BasesParts): BasesOf {
  return (req, authority) => {
    const { publicUrl, shareOrigin } = settings();
    const isBelieved = !isPublicUrlSet() && isTrustedProxy(peerAddressOf(req));
    const own = (isBelieved ? originOf(req.headers['x-forwarded-proto'], authority) : null) ?? publicUrl;
    return { own, shares: publicBaseOf({ publicUrl: own, shareOrigin }) };
  };
}

const MAX_HOST_CHARACTERS = 253;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:.]+\\])(?::([1-9]\\d{0,4}))?$`, 'i');

/** Null unless the scheme is exactly one of the two, and the authority exactly the host and port that a URL has. */
function originOf(scheme: string | string[] | undefined, authority = ''): string | null {
  if (scheme !== 'http' && scheme !== 'https') return null;
  const [, host = ''] = HOST.exec(authority) ?? [];
  if (host === '' || host.length > MAX_HOST_CHARACTERS) return null;
  const url = URL.parse(`${scheme}://${authority}`);
  // A parser reads some names as numbers: 0x7f.1 would become 127.0.0.1.
  const isAsWritten = url !== null && (host.startsWith('[') || url.hostname === host.toLowerCase());
  return isAsWritten ? url.origin : null;
}
