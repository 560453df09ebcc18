// How connections leave, from the settings, the files that they name, and the usual variables of the environment.
import { readCaFile } from '../catalog/reading/ca-file.ts';
import { type Problem, problemOutside } from '../catalog/reading/problem.ts';
import { HEADER_SECRET, readSecret, type SecretForm, type SecretLocations } from '../catalog/reading/secret-file.ts';
import type { Settings } from '../domain/settings.ts';
import { authorizationOf, readDirect, readProxy } from '../outbound/ways/proxy-rules.ts';
import type { Proxy, Ways } from '../outbound/ways/ways.ts';

/** Variables that other programs read, too, as they are written; null when unset or empty. */
export interface WayVariables {
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
  /** The trust store of the system, as OpenSSL calls it. */
  readonly sslCertFile: string | null;
}

/** Reads them. Of two spellings, the one in lower case goes first, as in curl. */
export function readWayVariables(variable: (name: string) => string | null): WayVariables {
  const either = (name: string) => variable(name.toLowerCase()) ?? variable(name);
  return {
    httpProxy: either('HTTP_PROXY'),
    httpsProxy: either('HTTPS_PROXY'),
    noProxy: either('NO_PROXY'),
    sslCertFile: variable('SSL_CERT_FILE'),
  };
}

type WaySettings = Pick<Settings, 'tls' | 'egress'>;

/** No proxy, whatever the environment says. */
const DIRECT = 'direct';

/** Whether a text can be the setting `egress.proxy`. Credentials have a file of their own. */
export function isProxy(text: string): boolean {
  if (text === '' || text === DIRECT) return true;
  const read = readProxy(text);
  return read.ok && read.proxy.authorization === null && !/\s/.test(text);
}

const CREDENTIALS: SecretForm = {
  passes: (secret) => HEADER_SECRET.passes(secret) && secret.includes(':'),
  mustHold: 'must contain USER:PASSWORD on one line',
};

/** The ways; with problems, those that could be read. No problem contains a secret. */
export function readWays(
  { tls, egress }: WaySettings,
  variables: WayVariables,
  locations: SecretLocations,
): { readonly ways: Ways; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const problem = (words: string) => void problems.push(problemOutside(words));
  const trusted = readCaFile(tls.caFile, locations);
  if (!trusted.ok) problem(`tls.ca_file ${trusted.why}`);
  const named = (name: string, text: string | null): Proxy | null => {
    if (text === null) return null;
    const read = readProxy(text);
    if (!read.ok) problem(`${name} ${read.why}`);
    return read.ok ? read.proxy : null;
  };

  function proxies(): Ways['proxies'] {
    if (egress.proxy === DIRECT) return { 'http:': null, 'https:': null };
    if (egress.proxy === '')
      return {
        'http:': named('HTTP_PROXY', variables.httpProxy),
        'https:': named('HTTPS_PROXY', variables.httpsProxy),
      };
    const proxy = named('egress.proxy', egress.proxy);
    const both = proxy === null ? null : { ...proxy, authorization: authorization() };
    return { 'http:': both, 'https:': both };
  }

  function authorization(): string | null {
    if (egress.proxyCredentialsFile === '') return null;
    const read = readSecret(egress.proxyCredentialsFile, locations, CREDENTIALS);
    if (!read.ok) problem(`egress.proxy_credentials_file ${read.why}`);
    return read.ok ? authorizationOf(read.secret) : null;
  }

  const ways = {
    systemStore: variables.sslCertFile,
    caFile: trusted.ok ? trusted.path : null,
    proxies: proxies(),
    direct: [...readDirect(variables.noProxy ?? ''), ...egress.noProxy],
    proxyResolves: egress.proxyResolves,
  };
  return { ways, problems };
}
