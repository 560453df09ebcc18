// Settings of what clients meet: the address, requests and their limits, streams, log-ins.
import { flag, list, text } from '../../catalog/reading/schema.ts';
import { isAddressRange } from '../../outbound/address-range.ts';
import { isPublicUrl, isShareOrigin, isUserinfoUrl, parseListen, publicUrlFor } from '../listen-address.ts';
import { DATABASE_OPTIONS } from './database.ts';
import { count, megabytes, milliseconds, type Options, seconds } from '../option.ts';

const isShort = (value: string) => value.length <= 200;

export const REQUEST_OPTIONS = {
  listen: {
    schema: text(
      'HOST:PORT, such as 127.0.0.1:8484 or [::1]:8484, the port at most 65535, or unix:/path, the path at most 107 bytes',
      (value) => parseListen(value) !== null,
    ),
    fallback: '127.0.0.1:8484',
    about:
      'Address to listen on, as HOST:PORT, or unix:/path for a Unix socket. Read only at start. Behind a reverse proxy, keep it ' +
      'local. Whoever can enter the directory of the socket can connect; unlike the socket in the data directory, that is no ' +
      'proof of being the operator.',
    flag: 'listen',
    isOfNode: true,
  },
  public_url: {
    schema: text('an http or https address without user, query or fragment', isPublicUrl),
    fallback: publicUrlFor,
    example: 'http://127.0.0.1:8484',
    read: (written) => (written as string).replace(/\/+$/, ''),
    about:
      'Base URL that clients use; all links begin with it. Default: the address in `listen`, https with `tls`. Then links in ' +
      'replies to requests that came through a proxy in `trusted_proxies` begin with its `X-Forwarded-Proto` and the ' +
      '`Host` of the request instead.',
    flag: 'publicUrl',
  },
  share_origin: {
    schema: text('an http or https address of a host alone, such as https://shares.example.com', isShareOrigin),
    fallback: '',
    read: (written) => (written === '' ? '' : new URL(written as string).origin),
    about:
      'Origin of a host of their own for published pages, such as https://shares.example.com, which leads to the same ' +
      'daemon. Then they are served there only, and nothing else is: what agents publish is apart from everything that ' +
      'asks for a password. Its host must not be that of `public_url`. Empty: pages are served under `public_url`.',
  },
  aliases: {
    schema: flag(),
    fallback: true,
    about:
      'Whether addresses under /v1/ answer as those under /openapi/v1/ do, for clients that are given a host alone, or its /v1.',
  },
  trusted_proxies: {
    schema: list(
      text(
        'an address, a range of addresses such as 10.0.0.0/8, or unix',
        (value) => value === 'unix' || isAddressRange(value),
      ),
      'addresses and ranges',
    ),
    fallback: [],
    about:
      'Addresses and ranges of the reverse proxies, such as [127.0.0.1, 10.20.0.0/16], and `unix` for those that connect to a ' +
      'Unix socket in `listen`. Only their `X-Forwarded-For` and, without `public_url`, `X-Forwarded-Proto` are ' +
      'trusted; each proxy must append to the first and replace the second, and the client is its rightmost address that is not listed here. Without ' +
      'this setting, all clients of a proxy count as one address and share its limits on failed logins and unknown share ' +
      'codes.',
  },
  wait_timeout_seconds: {
    schema: seconds(1, 86_400),
    fallback: 600,
    about: 'Seconds that a non-streaming request waits for its run. Then it gets 504, and the run continues.',
  },
  max_upload_size_mb: {
    schema: megabytes(1, 1024),
    fallback: 20,
    about: 'Maximum size of one image or attachment, in megabytes. Larger ones get 413.',
    environment: 'MAX_UPLOAD_SIZE_MB',
  },
  login_token_ttl_seconds: {
    schema: seconds(1, 86_400),
    fallback: 86_400,
    about: 'Seconds that a login token is valid; at most one day.',
    environment: 'OPENAPI_LOGIN_TOKEN_TTL_SECONDS',
  },
  ...DATABASE_OPTIONS,
  'limits.max_text_mb': {
    schema: megabytes(1, 64),
    fallback: 4,
    about: 'Megabytes of text in one turn, not counting attachments. More gets 413.',
  },
  'limits.bodies_in_flight_mb': {
    schema: megabytes(1, 65_536),
    fallback: 256,
    about:
      'Megabytes of all request bodies that are being read or held, including images that they name by URL. One user can ' +
      'have three quarters of it. Beyond that, requests get 503.',
    isOfNode: true,
  },
  'limits.replies_in_flight_mb': {
    schema: megabytes(8, 65_536),
    fallback: 64,
    about:
      'Megabytes that all replies of lists, histories and trees take together, from the database to the client. One user can have three ' +
      'quarters of it, all readers without a credential together half, and one address of them an eighth. Beyond that, ' +
      'requests wait, and get 503 after 10 seconds.',
    isOfNode: true,
  },
  'limits.max_nodes': {
    schema: count(1_000, 1_000_000),
    fallback: 100_000,
    about: 'JSON values in one request body. More get 422.',
  },
  'limits.connections': {
    schema: count(1, 1_000_000),
    fallback: 2_000,
    about:
      'TCP connections, at most half of the files that the process can open (LimitNOFILE). Further ones are closed.',
    isOfNode: true,
  },
  'limits.connections_per_address': {
    schema: count(1, 1_000_000),
    fallback: 200,
    about: 'TCP connections from one address, and never more than half of all. Trusted proxies can have all of them.',
  },
  'streams.ping_seconds': {
    schema: seconds(1, 10),
    fallback: 10,
    about: 'Seconds of silence after which a stream sends a ping.',
  },
  'streams.heartbeat_seconds': {
    schema: seconds(1, 60),
    fallback: 15,
    about: 'Seconds of silence after which a stream of Office Mode sends a heartbeat.',
  },
  'streams.drain_seconds': {
    schema: seconds(0, 3600),
    fallback: 30,
    about:
      'Seconds that running agents and open streams have to finish after SIGTERM. Others continue after the next start.',
  },
  'office.web': {
    schema: flag(),
    fallback: true,
    about:
      'Whether /office shows Office Mode to browsers, for those who have a link of `errand office --web` or paste a key of scope admin.',
  },
  'sso.provider': {
    schema: text('the name of a provider, at most 64 characters', (value) => value.length <= 64),
    fallback: '',
    about:
      'Name of the provider, as login requests send it. Empty: no single sign-on. Set it together with userinfo_url.',
  },
  'sso.userinfo_url': {
    schema: text('an http or https address without user or fragment', isUserinfoUrl),
    fallback: '',
    about: "The provider's user-info URL. Errand calls it by GET with the user's token as a query parameter.",
  },
  'sso.token_parameter': {
    schema: text('the name of a query parameter, at most 64 characters', (value) => /^[\w.-]{1,64}$/.test(value)),
    fallback: 'token',
    about: 'Name of that query parameter.',
  },
  'sso.timeout_ms': {
    schema: milliseconds(100, 60_000),
    fallback: 5000,
    about: "Milliseconds for the provider's complete response. After that, the login fails.",
  },
  'sso.defaults.team': { schema: text("a team's name, or empty", isShort), fallback: '', about: 'Name of its team.' },
  'sso.defaults.functional_role': {
    schema: text('a functional role, or empty', isShort),
    fallback: '',
    about: 'Its functional role.',
  },
  'sso.defaults.scenario': {
    schema: text('a scenario of models.yaml, or empty', isShort),
    fallback: '',
    about: 'Its scenario in models.yaml. Empty: the default scenario.',
  },
} satisfies Options;
