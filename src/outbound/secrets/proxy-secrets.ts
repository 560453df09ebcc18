// What nobody may read of the proxies through which connections leave.
import type { Ways } from '../ways/ways.ts';

/** What is sent to them, the credentials, and the password alone; without one, the user, as a token is written. */
export function secretsOfProxies({ proxies }: Pick<Ways, 'proxies'>): string[] {
  return Object.values(proxies).flatMap((proxy) => {
    const sent = proxy?.authorization?.replace(/^Basic /, '');
    if (sent === undefined) return [];
    const credentials = Buffer.from(sent, 'base64').toString();
    const at = credentials.indexOf(':');
    return [sent, credentials, credentials.slice(at + 1) || credentials.slice(0, at)];
  });
}
