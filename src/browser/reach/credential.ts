// What requests are sent with: the cookie of a login, which no script can read, or a key that lives as long as this page.
import { refusalStatusOf } from '../../client/transport/client-error.ts';
import { bodyOf, refusal, send } from './send.ts';

const TIMEOUT_MS = 15_000;

export interface Credential {
  /** Headers of a request. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Uses a key that was pasted; null: the cookie again. */
  readonly useKey: (key: string | null) => void;
  /** Exchanges a code for the cookie. Throws ClientError. */
  readonly logIn: (code: string) => Promise<void>;
  /** Ends the login, here and at the daemon. Throws ClientError where the cookie may still be good; a key is forgotten at once. */
  readonly logOut: () => Promise<void>;
}

/** Makes it; `root` is the address of the office. */
export function makeCredential(root: string): Credential {
  let key: string | null = null;
  const headers = (): Readonly<Record<string, string>> => (key === null ? {} : { authorization: `Bearer ${key}` });

  const post = async (path: string, body: object) => {
    const reply = await send(`${root}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!reply.ok) throw refusal(reply.status, await bodyOf(reply));
  };

  return {
    headers,
    useKey(pasted) {
      key = pasted;
    },
    async logIn(code) {
      key = null;
      await post('login', { code });
    },
    async logOut() {
      const isByKey = key !== null;
      key = null;
      const ending = post('logout', {}).catch((error: unknown) => {
        // Whoever is not known is logged out.
        if (!isByKey && refusalStatusOf(error) !== 401) throw error;
      });
      if (!isByKey) await ending;
    },
  };
}
