// Whether a delivery is what a secret signed, and if not, which part does not fit: for developers of receivers.
import { isoTime } from '../domain/clock.ts';
import { serviceSignature, standardSignature } from './sign.ts';

/** What a receiver got, as it got it. */
export interface Claim {
  /** The exact bytes. */
  readonly body: Uint8Array;
  /** `X-Service-Timestamp`, or `webhook-timestamp`. */
  readonly timestamp: string;
  /** `X-Service-Signature`, or `webhook-signature`. */
  readonly signature: string;
  /** `webhook-id`; null without. */
  readonly id: string | null;
  readonly secret: string;
}

export interface Check {
  readonly part: 'timestamp' | 'age' | 'signature form' | 'signature';
  readonly ok: boolean;
  /** In words, for people. */
  readonly detail: string;
}

/** How old a delivery may be, or how far ahead its clock (§6.4). */
const MAX_SKEW_MS = 300_000;

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** A signature scheme: the form of its parts, and how it signs. */
interface Scheme {
  readonly timestampForm: string;
  readonly signatureForm: string;
  /** Epoch ms; NaN for an invalid form. */
  momentOf(timestamp: string): number;
  hasForm(signature: string): boolean;
  /** Any of several signatures in one header is enough. */
  sign(claim: Pick<Claim, 'body' | 'timestamp' | 'id'>, secret: string): string;
}

const SERVICE: Scheme = {
  timestampForm: 'ISO 8601, such as 2026-03-01T12:00:00.000Z',
  signatureForm: 'sha256= and 64 lower-case hexadecimal digits',
  momentOf: (timestamp) => (ISO_TIME.test(timestamp) ? Date.parse(timestamp) : Number.NaN),
  hasForm: (signature) => /^sha256=[0-9a-f]{64}$/.test(signature),
  sign: ({ body, timestamp }, secret) => serviceSignature({ body, timestamp }, secret),
};

const STANDARD: Scheme = {
  timestampForm: 'Unix time in seconds, such as 1772366400',
  signatureForm: 'v1, and 44 characters of Base64, separated by spaces if there are several',
  momentOf: (timestamp) => (/^\d{1,11}$/.test(timestamp) ? Number(timestamp) * 1_000 : Number.NaN),
  hasForm: (signature) => /^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/.test(signature),
  sign: ({ body, timestamp, id }, secret) => standardSignature({ body, timestamp, eventId: id ?? '' }, secret),
};

/** Verifies at `now`, epoch ms. Every part is checked, also after one that does not fit. */
export function verify(claim: Claim, now: number): readonly Check[] {
  const scheme = claim.signature.startsWith('v1,') ? STANDARD : SERVICE;
  const moment = scheme.momentOf(claim.timestamp);
  const hasForm = scheme.hasForm(claim.signature);
  const isNameless = scheme === STANDARD && claim.id === null;
  return [
    formCheck('timestamp', !Number.isNaN(moment), scheme.timestampForm),
    ...(Number.isNaN(moment) ? [] : [ageCheck(moment, now)]),
    isNameless
      ? { part: 'signature form', ok: false, detail: 'It signs webhook-id too, which is missing.' }
      : formCheck('signature form', hasForm, scheme.signatureForm),
    ...(hasForm && !isNameless ? [signatureCheck(scheme, claim)] : []),
  ];
}

function formCheck(part: Check['part'], ok: boolean, form: string): Check {
  return { part, ok, detail: ok ? `It is ${form}.` : `It must be ${form}.` };
}

function ageCheck(moment: number, now: number): Check {
  const seconds = Math.round(Math.abs(now - moment) / 1_000);
  const place = moment > now ? 'ahead of this clock' : 'old';
  const ok = Math.abs(now - moment) <= MAX_SKEW_MS;
  const rule = ok ? '' : ' Receivers refuse what is over 5 minutes away.';
  return { part: 'age', ok, detail: `It is ${seconds} s ${place} (now ${isoTime(now)}).${rule}` };
}

function signatureCheck(scheme: Scheme, claim: Claim): Check {
  const fits = (over: Partial<Claim> = {}) => {
    const { secret, ...signed } = { ...claim, ...over };
    return claim.signature.split(' ').includes(scheme.sign(signed, secret));
  };
  if (fits()) return { part: 'signature', ok: true, detail: 'It is of this secret, timestamp and body.' };
  const cause = CAUSES.find(({ change }) => change(claim).some((over) => fits(over)));
  const detail = cause?.words ?? 'It is of another secret, or the timestamp or the body was changed.';
  return { part: 'signature', ok: false, detail };
}

interface Cause {
  readonly words: string;
  /** What the claim would be without this mistake. */
  change(claim: Claim): readonly Partial<Claim>[];
}

/** Usual mistakes of receivers. */
const CAUSES: readonly Cause[] = [
  {
    words: 'The body has a line break at its end that was not signed.',
    change: ({ body }) => [{ body: withoutLineBreak(body) }],
  },
  {
    words: 'The body was signed with a line break at its end, which is missing.',
    change: ({ body }) => [{ body: Buffer.concat([body, Buffer.from('\n')]) }],
  },
  {
    words: 'The body was parsed and written anew: sign and verify the bytes as they arrived.',
    change: ({ body }) => compact(body),
  },
  {
    words: 'The secret has white space around it.',
    change: ({ secret }) => [{ secret: secret.trim() }],
  },
  {
    words: 'The secret begins with whsec_, which is missing.',
    change: ({ secret }) => [{ secret: `whsec_${secret}` }],
  },
];

function withoutLineBreak(body: Uint8Array): Uint8Array {
  const end = body.at(-1) === 0x0a ? (body.at(-2) === 0x0d ? -2 : -1) : body.length;
  return body.subarray(0, end);
}

function compact(body: Uint8Array): readonly Partial<Claim>[] {
  try {
    return [{ body: Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString('utf8')))) }];
  } catch {
    return [];
  }
}
