// A real daemon with two users and a session of files, and how its pages are managed and read.
import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type DaemonOptions, type DaemonProcess, startDaemonProcess } from '../daemon/daemon-process.ts';
import { takeTurn } from '../daemon/turn.ts';

/** What a reply contains, which a test looks into as it is. */
export type Json = ReturnType<typeof JSON.parse>;

/** A reply, byte for byte. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; undefined when it isn't. */
  readonly json: Json;
  /** `data` of the envelope. */
  readonly data: Json;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
}

/** A user with a password, a login token, and a key for conversations. */
export interface Person {
  readonly username: string;
  readonly token: string;
  readonly key: string;
}

export interface PublishedFixture {
  readonly daemon: DaemonProcess;
  readonly mara: Person;
  readonly ben: Person;
  /** Asks without a credential, each time from another address, with the path exactly as given. */
  read(path: string, ask?: Ask): Promise<Reply>;
  /** Asks the management interface by login token. */
  manage(who: Person, method: string, path: string, body?: unknown): Promise<Reply>;
  /** Has the agent write files: texts by path. Without a session in a new one; answers its id. */
  write(who: Person, files: Readonly<Record<string, string>>, sessionId?: string): Promise<string>;
}

const PASSWORD = 'correct horse battery staple';

/** Starts the daemon on its offline engine. Its own address is a trusted proxy, so that each request has a client of its own. */
export async function startPublishedFixture(options: DaemonOptions = {}): Promise<PublishedFixture> {
  const daemon = await startDaemonProcess({
    ...options,
    errandYaml: `trusted_proxies: [127.0.0.1]\n${options.errandYaml ?? ''}`,
  });
  let clients = 0;
  const nextClient = () => `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients++ & 255}`;

  async function ask(path: string, { method = 'GET', headers = {}, body }: Ask): Promise<Reply> {
    const { hostname, port } = new URL(daemon.url);
    const content = body === undefined ? undefined : JSON.stringify(body);
    const type = content === undefined ? {} : { 'content-type': 'application/json' };
    const asked = request({ hostname, port, path, method, headers: { ...type, ...headers }, agent: false });
    asked.end(content);
    const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
    const bytes = await buffer(response);
    const json = jsonOf(bytes.toString());
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes,
      text: bytes.toString(),
      json,
      data: json?.data,
    };
  }

  async function join(username: string): Promise<Person> {
    await daemon.admin('POST', '/api/v1/users', {
      username,
      full_name: `${username} Doe`,
      department: 'Tides',
      password: PASSWORD,
    });
    const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: username, scope: 'conversation' })) as {
      key: string;
    };
    const grant = { grant_type: 'password', username, password: PASSWORD };
    const { json } = await ask('/openapi/v1/auth/token', { method: 'POST', body: grant });
    return { username, key, token: json.access_token };
  }

  return {
    daemon,
    mara: await join('mara'),
    ben: await join('ben'),
    read: (path, request = {}) =>
      ask(path, { ...request, headers: { 'x-forwarded-for': nextClient(), ...request.headers } }),
    manage: (who, method, path, body) =>
      ask(`/api/v1${path}`, { method, body, headers: { authorization: `Bearer ${who.token}` } }),
    write: async (who, files, sessionId) => {
      const content = Object.entries(files)
        .map(([path, text]) => `write ${path}: ${text}`)
        .join('\n');
      const turn = await takeTurn({ url: daemon.url, apiKey: who.key }, { content, sessionId: sessionId ?? null });
      if (turn.sessionId === null) throw new Error(JSON.stringify(turn.error));
      return turn.sessionId;
    },
  };
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
