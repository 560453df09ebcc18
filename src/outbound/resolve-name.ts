// Resolves names without libuv's few threads, which `getaddrinfo` keeps for as long as a name server is silent: a few names
// that never resolve would stop every other look-up, and the files that are read on the same threads.
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ResolveName } from './egress.ts';

export interface ResolverOptions {
  /** `/etc/hosts` by default. */
  readonly hostsFile?: string;
  /** `/etc/resolv.conf` by default: the search list. */
  readonly configFile?: string;
  /** Name servers as `address:port`; the system's by default. */
  readonly servers?: readonly string[];
  /** Time limit of a look-up. */
  readonly limitMs?: number;
  /** How long IPv6 addresses are awaited once there are others: some name servers never answer for them. */
  readonly patienceMs?: number;
}

/** To the next server, or to the same one again. */
const TRY_MS = 1_500;
const TRIES = 3;
const LIMIT_MS = 5_000;
const PATIENCE_MS = 1_000;
/** As many as resolv.conf(5) had for long. */
const MAX_SUFFIXES = 6;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** How names are completed (resolv.conf(5)). */
interface Search {
  readonly suffixes: readonly string[];
  /** A name with fewer dots is completed before it is tried as it is. */
  readonly dots: number;
}

/**
 * Makes a resolver: the hosts file first, then name servers, with the search list. Every look-up reads the system's
 * configuration as it is then, and ends within the limit.
 */
export function makeResolver(options: ResolverOptions = {}): ResolveName {
  const hosts = remembered(options.hostsFile ?? '/etc/hosts', parseHosts);
  const search = remembered(options.configFile ?? '/etc/resolv.conf', parseSearch);
  return async (name) => {
    const known = (await hosts()).get(name);
    if (known !== undefined) return known;
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    return ask(candidatesOf(name, await search()), options);
  };
}

/** The addresses of the first name that has any. */
async function ask(names: readonly string[], options: ResolverOptions): Promise<readonly LookupAddress[]> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (options.servers !== undefined) resolver.setServers(options.servers);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolver.cancel();
  }, options.limitMs ?? LIMIT_MS);
  try {
    for (const name of names) {
      const found = await addressesOf(resolver, name, options.patienceMs ?? PATIENCE_MS);
      if (found.length > 0) return found;
      if (isLate) break;
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(isLate ? 'The name servers did not answer in time.' : 'The name has no address.');
}

/** IPv4 first: a machine without IPv6 reaches those. */
async function addressesOf(resolver: Resolver, name: string, patienceMs: number): Promise<LookupAddress[]> {
  let patience: NodeJS.Timeout | undefined;
  const four = resolver.resolve4(name).then((addresses) => {
    patience = setTimeout(() => resolver.cancel(), patienceMs);
    return addresses.map((address) => ({ address, family: 4 }));
  });
  const six = resolver.resolve6(name).then((addresses) => addresses.map((address) => ({ address, family: 6 })));
  const answers = await Promise.allSettled([four, six]);
  clearTimeout(patience);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

function candidatesOf(name: string, { suffixes, dots }: Search): string[] {
  const completed = suffixes.map((suffix) => `${name}.${suffix}`);
  return name.split('.').length - 1 >= dots ? [name, ...completed] : [...completed, name];
}

/** What a file says as it is now; it is read again only when it changed. One that can't be read is empty. */
function remembered<Content>(file: string, parse: (text: string) => Content): () => Promise<Content> {
  let known = { version: '', content: parse('') };
  return async () => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version !== known.version) known = { version, content: parse(await readFile(file, 'utf8')) };
      return known.content;
    } catch {
      return parse('');
    }
  };
}

function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of wordsOf(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((one) => one.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
  }
  return hosts;
}

function parseSearch(text: string): Search {
  let suffixes: readonly string[] = [];
  let dots = 1;
  for (const [keyword, ...values] of wordsOf(text)) {
    // The last of either counts.
    if (keyword === 'search' || keyword === 'domain')
      suffixes = values
        .slice(0, MAX_SUFFIXES)
        .map((suffix) => suffix.replace(/\.$/, ''))
        .filter((suffix) => suffix !== '');
    if (keyword !== 'options') continue;
    for (const value of values) dots = Number(/^ndots:(\d{1,2})$/.exec(value)?.[1] ?? dots);
  }
  return { suffixes, dots };
}

/** The words of each line, without comments. */
function wordsOf(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.replace(/[#;].*/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/));
}
