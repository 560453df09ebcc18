// What requests are sent with: the cookie of a login, which no script can read, or a key that lives as long as this page.
import { ClientError } from '../../client/transport/client-error.ts';
import type { JsonValue } from '../../domain/json.ts';
import { refusal } from './refusal.ts';

export interface Credential {
  /** Headers of a request. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Uses a key that was pasted; null: the cookie again. */
  readonly useKey: (key: string | null) => void;
  /** Exchanges a code for the cookie. Throws ClientError. */
  readonly logIn: (code: string) => Promise<void>;
  /** Ends the login, here and at the daemon. */
  readonly logOut: () => Promise<void>;
}

/** Makes it; `root` is the address of the office. */
export function makeCredential(root: string): Credential {
  let key: string | null = null;
  const headers = (): Readonly<Record<string, string>> => (key === null ? {} : { authorization: `Bearer ${key}` });

  const post = (path: string, body: object) =>
    fetch(`${root}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers() },
      body: JSON.stringify(body),
      cache: 'no-store',
    });

  return {
    headers,
    useKey(pasted) {
      key = pasted;
    },
    async logIn(code) {
      key = null;
      const reply = await post('login', { code }).catch((cause: unknown) => {
        throw new ClientError({ kind: 'unreachable' }, 'The daemon is not reachable.', { cause });
      });
      if (!reply.ok) throw refusal(reply.status, (await reply.json().catch(() => undefined)) as JsonValue | undefined);
    },
    async logOut() {
      await post('logout', {}).catch(() => undefined);
      key = null;
    },
  };
}
