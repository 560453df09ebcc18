// What TLS offers: versions, ciphers, HTTP/1.1 alone; and how a server takes a new certificate.
import { constants } from 'node:crypto';
import type { Server as HttpsServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';

/** A certificate with its chain, and its key, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** With TLS 1.2, only what protects earlier connections if the key is lost later. TLS 1.3 has no others. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** The whole context: what a new one doesn't name would be Node's default. */
export function contextOptions({ cert, key }: KeyPair): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    // A client could otherwise have the daemon compute handshakes without opening connections.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** From now on, new connections get this certificate. Those that are open continue with theirs. */
export function presentCertificate(server: HttpsServer, pair: KeyPair): void {
  server.setSecureContext(contextOptions(pair));
}
