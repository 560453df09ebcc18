// A host for shares alone (`share_origin`): what is served there is served nowhere else, and nothing else is served there.

/** What belongs to the shares: their pages for people, and the public interface. */
function isOfShares(path: string): boolean {
  return path === '/share' || path.startsWith('/share/') || path.startsWith('/api/v1/public/');
}

/** Whether a path is served to requests that name this authority; undefined for those that name none. */
export type IsServedAt = (authority: string | undefined, path: string) => boolean;

/** Makes the check. It reads the origin again when the setting has changed; '' is no such host. */
export function makeIsServedAt(shareOrigin: () => string): IsServedAt {
  let read = '';
  let isShareHost = (_authority: string) => false;
  return (authority, path) => {
    const origin = shareOrigin();
    if (origin === '') return true;
    if (origin !== read) [read, isShareHost] = [origin, makeIsHostOf(origin)];
    return (authority !== undefined && isShareHost(authority)) === isOfShares(path);
  };
}

const AUTHORITY = /^(?:[^@]*@)?(\[[^\]]*\]|[^:]*?)\.?(?::(\d*))?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Whether an authority is that of an origin: its letters may be of either case, and its port may be left out if it is the default. */
function makeIsHostOf(origin: string): (authority: string) => boolean {
  const { protocol, hostname, port } = new URL(origin);
  const byDefault = DEFAULT_PORTS[protocol];
  const expected = { host: hostname.replace(/\.$/, ''), port: port || byDefault };
  return (authority) => {
    const [, host, given] = AUTHORITY.exec(authority) ?? [];
    return host?.toLowerCase() === expected.host && (given || byDefault) === expected.port;
  };
}
