// Issues and verifies login tokens, and rotates the keys that sign them (§2.1, B6).
import { randomBytes, randomUUID } from 'node:crypto';
import type { JWTHeaderParameters, JWTVerifyOptions } from 'jose';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Administrator, TokenIdentity, User } from '../../domain/people/user.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import { type Audit, itself } from '../audit/audit.ts';
import type { SigningKey } from '../../store/people/signing-keys.ts';
import type { Store } from '../../store/open-store.ts';

/** Loaded with the first token: many daemons never see one. */
const loadJose = () => import('jose');

const ALGORITHM = 'HS256';
const TYPE = 'JWT';
const ISSUER = 'errand';
const AUDIENCE = 'errand/login';
const SALT_BYTES = 32;
/** The longest validity that a token can have. */
const MAX_TTL_SECONDS = 86_400;
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Whether a credential has the form of a login token, valid or not. API keys have another form. */
export function isToken(text: string): boolean {
  return COMPACT_FORM.test(text);
}

/** An issued token. */
export interface LoginToken {
  readonly text: string;
  readonly expiresInSeconds: number;
}

export interface LoginTokenParts {
  readonly store: Pick<Store, 'signingKeys' | 'users'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly clock: Clock;
  readonly deriveKey: DeriveKey;
  settings(): Pick<Settings, 'loginTokenTtlSeconds'>;
}

/** The verbs on login tokens and on the keys that sign them. */
export function makeLoginTokens(parts: LoginTokenParts) {
  const { store, audit, clock } = parts;
  const { signingKeys } = store;
  const freshSalt = () => randomBytes(SALT_BYTES);
  return {
    issueToken: (user: User, tokenGeneration?: number): Promise<LoginToken> => issue(parts, user, tokenGeneration),
    resolveToken: (text: string): Promise<TokenIdentity> => resolve(parts, text),

    listSigningKeys: (_caller: Administrator) => signingKeys.list(),
    /** Signs with a new key from now on. Tokens of the old keys stay valid until they expire. */
    rotateSigningKey: (caller: Administrator): Promise<SigningKey> => {
      const note = audit.change(caller, 'token.rotate', itself);
      return signingKeys.rotate(freshSalt(), clock.now() - MAX_TTL_SECONDS * 1_000, note);
    },
    /** Refuses every token issued before now, and signs with a new key. */
    revokeAllTokens: (caller: Administrator): Promise<SigningKey> =>
      signingKeys.revokeAll(freshSalt(), audit.change(caller, 'token.revoke_all', itself)),
  };
}

async function issue(parts: LoginTokenParts, user: User, given?: number): Promise<LoginToken> {
  const { store, clock, deriveKey, settings } = parts;
  const { signingKeys } = store;
  const { SignJWT } = await loadJose();
  const generation = given ?? (await store.users.findTokenHolder(user.id))?.tokenGeneration ?? 0;
  const key = (await signingKeys.findCurrent()) ?? (await signingKeys.ensureCurrent(randomBytes(SALT_BYTES)));
  const expiresInSeconds = settings().loginTokenTtlSeconds;
  const issuedAtSeconds = Math.floor(clock.now() / 1_000);
  const text = await new SignJWT(generation === 0 ? {} : { gen: generation })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: key.id })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(user.id)
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(issuedAtSeconds + expiresInSeconds)
    .setJti(randomUUID())
    .sign(deriveKey('login-token', key.salt));
  return { text, expiresInSeconds };
}

/** Throws `unauthenticated` for a token that is foreign, altered, expired or revoked; `forbidden` for a disabled user. */
async function resolve({ store, clock, deriveKey }: LoginTokenParts, text: string): Promise<TokenIdentity> {
  let signedWith: SigningKey | undefined;
  const secretFor = async ({ kid }: JWTHeaderParameters): Promise<Uint8Array> => {
    signedWith = typeof kid === 'string' ? await store.signingKeys.find(kid) : undefined;
    if (signedWith === undefined || signedWith.revokedAt !== null) throw refused();
    return deriveKey('login-token', signedWith.salt);
  };
  const { sub, iat, exp, gen = 0 } = await verify(text, secretFor, clock.now());
  // A stolen, retired key can't sign anything that outlives its last legitimate token.
  const isOfItsTime = signedWith?.retiredAt == null || iat * 1_000 <= signedWith.retiredAt;
  if (!isOfItsTime || exp - iat > MAX_TTL_SECONDS) throw refused();
  const holder = await store.users.findTokenHolder(sub);
  // Another password has been set since.
  if (holder === undefined || holder.tokenGeneration !== gen) throw refused();
  const { user } = holder;
  if (user.disabled) throw new ErrandError('forbidden', 'The user of this login token is disabled.');
  return { kind: 'token', user };
}

/** `gen` is the number of passwords that the user had had before; absent for none. */
type Claims = Readonly<{ sub: string; iat: number; exp: number; gen?: number }>;
type SecretFor = (header: JWTHeaderParameters) => Promise<Uint8Array>;

/** The claims of a token whose signature, issuer, audience and time are valid. */
async function verify(text: string, secretFor: SecretFor, now: number): Promise<Claims> {
  const rules: JWTVerifyOptions = {
    algorithms: [ALGORITHM],
    typ: TYPE,
    issuer: ISSUER,
    audience: AUDIENCE,
    requiredClaims: ['sub', 'iat', 'exp', 'jti'],
    currentDate: new Date(now),
  };
  const { errors, jwtVerify } = await loadJose();
  try {
    const { payload } = await jwtVerify<Claims>(text, secretFor, rules);
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw refused();
    throw error;
  }
}

function refused(): ErrandError {
  return new ErrandError('unauthenticated', 'The login token is invalid or expired.');
}
