// Names the issuer that isn't trusted, of which TLS itself only says that it is missing.
import type { Certificate, DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { WayError } from './way-error.ts';

const MAX_DEPTH = 10;
const MAX_NAME = 120;
const SELF_SIGNED = 'DEPTH_ZERO_SELF_SIGNED_CERT';

/** How Node.js calls a certificate whose issuer it doesn't know. */
export const UNTRUSTED: ReadonlySet<string> = new Set([
  SELF_SIGNED,
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const WHERE = 'to a file that tls.ca_file names, or to the trust store of the system';

/** Watches a handshake. Returns what makes an error of it that names the issuer, and any other error as it is. */
export function watchIssuer(socket: TLSSocket, host: string): (error: Error) => Error {
  let certificate: DetailedPeerCertificate | undefined;
  // Before the connection is checked, which also closes it: afterwards the certificate is gone.
  socket.prependOnceListener('secure', () => {
    certificate = socket.getPeerCertificate(true);
  });
  return (error) => {
    const { code = '' } = error as { readonly code?: string };
    if (certificate?.issuer === undefined || !UNTRUSTED.has(code)) return error;
    return new WayError(wordsFor(certificate, host, code), { code, isDown: false, cause: error });
  };
}

function wordsFor(certificate: DetailedPeerCertificate, host: string, code: string): string {
  if (code === SELF_SIGNED) return `The certificate of ${host} is self-signed and not trusted: add it ${WHERE}.`;
  const last = lastOf(certificate);
  const issuer = nameIn(last.issuer);
  const isAlone = last === certificate;
  const hint = isAlone ? '. If another issuer stands above it, the server must send its whole chain' : '';
  return `The certificate of ${host} is issued by "${issuer}", which is not trusted: add the certificate of that issuer ${WHERE}${hint}.`;
}

/** The end of the chain that the server has sent. */
function lastOf(certificate: DetailedPeerCertificate): DetailedPeerCertificate {
  let last = certificate;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    // The types don't say that it can be missing.
    const next = last.issuerCertificate as DetailedPeerCertificate | undefined;
    if (next === undefined || next.fingerprint256 === last.fingerprint256) break;
    last = next;
  }
  return last;
}

/** The common name, or else all parts. A server writes it: it gets on one line, and short. */
function nameIn(issuer: Certificate): string {
  const whole = Object.entries(issuer).map(([key, value]) => `${key}=${String(value)}`);
  const name = String(issuer.CN ?? whole.join(', '))
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}"]/gu, ' ')
    .trim();
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…`.toWellFormed() : name;
}
