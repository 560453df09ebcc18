// Look-ups of names while they last, and the one error of every name that leads nowhere (decision 25).
import { plainHost } from './address-rules.ts';
import { EgressError, type EgressPolicy, type ResolveName } from './egress.ts';
import { makeResolver } from './resolve-name.ts';

const resolveBySystem = makeResolver();

export interface LookUps {
  /** The policy, whose look-ups are watched. */
  readonly policy: EgressPolicy & { readonly resolve: ResolveName };
  /**
   * The error of whoever gives up while a name is being looked up, that of `url` or any; undefined when none is. It is the error of a name
   * without an address: which names take long must not be told by words.
   */
  givenUp(url?: URL): EgressError | undefined;
}

/** Watches the look-ups under a policy. */
export function watchLookUps(policy: EgressPolicy): LookUps {
  const resolve = policy.resolve ?? resolveBySystem;
  /** A name is in it once for each of its look-ups. */
  const awaited: string[] = [];
  return {
    policy: {
      ...policy,
      resolve: async (name) => {
        awaited.push(name);
        try {
          return await resolve(name);
        } finally {
          awaited.splice(awaited.indexOf(name), 1);
        }
      },
    },
    givenUp: (url) => {
      const host = url === undefined ? awaited[0] : plainHost(url.hostname);
      if (host === undefined || !awaited.includes(host)) return undefined;
      return noAddress(host, new Error(`The look-up of ${host} took too long.`));
    },
  };
}

/** Whoever names hosts must not learn which of them the network of this machine knows: what is unknown and what is refused read alike. */
export function noAddress(host: string, cause: unknown): EgressError {
  return new EgressError('refused', `The host ${host} has no address that may be reached.`, { cause });
}
