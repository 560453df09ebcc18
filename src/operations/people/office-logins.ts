// Log-ins of browsers to Office Mode: a code for one use, and the cookie that it becomes (0054).
import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { type CodeRefusal, COOKIE_MS } from '../../domain/people/office-login.ts';
import type { Administrator, Identity } from '../../domain/people/user.ts';
import type { Settings } from '../../domain/settings.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { Store } from '../../store/open-store.ts';
import { type Audit, INSTALLATION, itself } from '../audit/audit.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { UseKey } from './resolve-key.ts';

/** What a link has. `expiresAt`: until when its code is good. */
export interface OfficeLink {
  readonly code: string;
  readonly expiresAt: number;
}

/** `text` is shown once and stored nowhere. */
export interface OfficeCookie {
  readonly text: string;
  readonly maxAgeSeconds: number;
}

export interface OfficeLoginParts {
  readonly store: Pick<Store, 'officeLogins'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly clock: Clock;
  readonly throttle: LoginThrottle;
  readonly useKey: UseKey;
  readonly deriveKey: DeriveKey;
  settings(): Pick<Settings, 'office'>;
}

const SECRET_BYTES = 32;

const makeSecret = () => randomBytes(SECRET_BYTES).toString('base64url');
/** 32 random bytes do not need a slow hash. */
const hashOf = (secret: string): Buffer => Buffer.from(hash('sha256', secret), 'hex');

const REFUSALS: Readonly<Record<CodeRefusal, string>> = {
  unknown: 'This code is unknown.',
  used: 'This code was used already: it is good for one browser.',
  late: 'This code is older than 5 minutes, or all log-ins were ended since.',
};
const OFF = 'Office Mode in browsers is off: the setting office.web is false.';
const ANOTHER = 'Ask for another link: errand office --web';

export function makeOfficeLogins(parts: OfficeLoginParts) {
  const { store, audit, clock, throttle, useKey, settings, deriveKey } = parts;

  /** Throws `unauthenticated` where browsers are not served. */
  function requireOn(): void {
    if (!settings().office.web) throw new ErrandError('unauthenticated', OFF);
  }

  /** Throws `unauthenticated` for a cookie that has ended or whose key has, `forbidden` when the key's owner is disabled. */
  async function identify(cookie: string): Promise<Identity> {
    requireOn();
    const holder = await store.officeLogins.find(hashOf(cookie));
    if (holder === undefined)
      throw new ErrandError('unauthenticated', `This log-in to Office Mode has ended. ${ANOTHER}`);
    return holder.by === null ? { kind: 'operator' } : useKey(holder.by);
  }

  return {
    /** Makes a link for a browser. Throws `conflict` where browsers are not served, `rate_limited` when there are too many log-ins. */
    createOfficeLink: async (caller: Administrator): Promise<OfficeLink> => {
      if (!settings().office.web) throw new ErrandError('conflict', OFF);
      const code = makeSecret();
      const login = { id: newId(clock.now()), keySeq: keyOf(caller), codeSha256: hashOf(code) };
      const { endsAt } = await store.officeLogins.create(login, audit.change(caller, 'office_login.create', itself));
      return { code, expiresAt: endsAt };
    },

    /** Ends all log-ins of browsers, and links that nobody has opened. */
    endOfficeLogins: async (caller: Administrator): Promise<{ readonly count: number }> => ({
      count: await store.officeLogins.endAll(audit.change(caller, 'office_login.end_all', () => INSTALLATION)),
    }),

    officeLogins: {
      identify,
      requireOn,

      /** Throws `unauthenticated`, with words, for a code that isn't good; `rate_limited` after too many of an address. */
      logIn: async (code: string, address: string): Promise<OfficeCookie> => {
        const text = makeSecret();
        let refusal = null as CodeRefusal | null;
        await throttle({ address, account: null }, async () => {
          refusal = await store.officeLogins.use(hashOf(code), hashOf(text));
          return refusal === null ? text : undefined;
        });
        if (refusal !== null) throw new ErrandError('unauthenticated', `${REFUSALS[refusal]} ${ANOTHER}`);
        await identify(text);
        return { text, maxAgeSeconds: COOKIE_MS / 1_000 };
      },

      /** Anybody may ask: a cookie that is none costs no more than a look. */
      logOut: async (cookie: string): Promise<void> => {
        const cookieSha256 = hashOf(cookie);
        if ((await store.officeLogins.find(cookieSha256)) !== undefined) await store.officeLogins.end(cookieSha256);
      },

      cookieName: cookieNameOf(deriveKey),
    },
  };
}

/** Browsers keep cookies for a host, whatever the port: two installations there have cookies of different names. */
const cookieNameOf = (deriveKey: DeriveKey): string =>
  `errand_office_${deriveKey('office-cookie', Buffer.alloc(0)).subarray(0, 4).toString('hex')}`;

/** The guard admits no login tokens: a cookie of theirs would be the operator's. */
function keyOf(caller: Administrator): number | null {
  if (caller.kind === 'token') throw new ErrandError('unauthenticated', 'An API key of scope admin is required.');
  return caller.kind === 'key' ? caller.key.seq : null;
}
