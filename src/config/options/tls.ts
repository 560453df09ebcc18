// Settings of TLS: of a daemon without a proxy in front of it, and of what the daemon calls.
import { text } from '../../catalog/reading/schema.ts';
import type { Options } from '../option.ts';

const isPath = (value: string) => value === value.trim() && !value.includes('\0');
const PATH = text('a path, or credential:NAME', isPath);

export const TLS_OPTIONS = {
  'tls.cert_file': {
    schema: PATH,
    fallback: '',
    about:
      'PEM file with the certificate of the daemon, followed by each that issued the one before. Absolute, relative to the ' +
      'config directory, or credential:NAME. Empty: plain HTTP.',
    isOfNode: true,
  },
  'tls.key_file': {
    schema: PATH,
    fallback: '',
    about:
      "PEM file with the certificate's private key, without a passphrase, in the same forms. Only the daemon's user may read " +
      "it, or, if it is root's, the group of the file.",
    isOfNode: true,
  },
  'tls.ca_file': {
    schema: PATH,
    fallback: '',
    about:
      "PEM file with issuers that the daemon trusts in addition to the system's store and the list of Node.js, where it calls " +
      'others: models, webhooks, tool servers, connected services, single sign-on, collectors. In the same forms.',
    isOfNode: true,
  },
} satisfies Options;
