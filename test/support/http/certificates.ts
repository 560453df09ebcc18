// Certificates made for one test, with the dates, the name and the issuer that it needs (RFC 5280).
import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  readonly name: string;
  readonly cert: string;
  readonly key: KeyObject;
}

export interface CertificateOptions {
  /** Null signs itself. */
  readonly issuer?: Certificate | null;
  /** Epoch ms. */
  readonly from?: number;
  readonly until?: number;
  /** Of another kind than P-256; only with an issuer. */
  readonly keys?: KeyPairKeyObjectResult;
}

const DAY_MS = 86_400_000;
const [INTEGER, BOOLEAN, BIT_STRING, OCTET_STRING, OID, UTF8, GENERALIZED, SEQUENCE, SET] = [
  0x02, 0x01, 0x03, 0x04, 0x06, 0x0c, 0x18, 0x30, 0x31,
] as const;

const OIDS = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
} as const;

/** A certificate for a DNS name, valid from yesterday to tomorrow by default. It can issue others. */
export function makeCertificate(name: string, options: CertificateOptions = {}): Certificate {
  const { issuer = null, from = Date.now() - DAY_MS, until = Date.now() + DAY_MS } = options;
  const { publicKey, privateKey } = options.keys ?? generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, oid('ecdsaWithSha256'));
  const extensions = [
    der(SEQUENCE, oid('basicConstraints'), der(OCTET_STRING, der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff]))))),
    der(SEQUENCE, oid('subjectAltName'), der(OCTET_STRING, der(SEQUENCE, der(0x82, Buffer.from(name))))),
  ];
  const signed = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    named(issuer?.name ?? name),
    der(SEQUENCE, time(from), time(until)),
    named(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = sign('sha256', signed, issuer?.key ?? privateKey);
  const whole = der(SEQUENCE, signed, algorithm, der(BIT_STRING, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g)!;
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  return { name, cert, key: privateKey };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const oid = (name: keyof typeof OIDS) => der(OID, Buffer.from(OIDS[name], 'hex'));

const named = (name: string) => der(SEQUENCE, der(SET, der(SEQUENCE, oid('commonName'), der(UTF8, Buffer.from(name)))));

const time = (at: number) =>
  der(GENERALIZED, Buffer.from(`${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`));

/** A private key as PEM, without a passphrase. */
export function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
