// Logging a browser in to Office Mode by the code of a link, and out (0054).
import type { Operations } from '../../../operations/operations.ts';
import type { OfficeCodeWire } from '../../../wire/office/browser.ts';
import type { Exchange } from '../../frame/exchange.ts';
import { officeCookiesOf, requireOwnPage } from '../../frame/office-cookie.ts';
import { writeHead } from '../../replies/head.ts';
import type { ClientAddressOf } from '../../server/client-address.ts';
import { rootOf } from './headers.ts';

type Asked = Pick<Exchange, 'req' | 'res' | 'bases'>;

/** Throw what the operations throw, and `forbidden` when a page of another origin asks. */
export function makeOfficeLogins({ officeLogins }: Pick<Operations, 'officeLogins'>, clientAddressOf: ClientAddressOf) {
  return {
    logIn: async ({
      body,
      ...exchange
    }: Asked & Pick<Exchange<unknown, OfficeCodeWire>, 'body'>): Promise<undefined> => {
      const { req, bases } = exchange;
      requireOwnPage(req, bases.own);
      const { text, maxAgeSeconds } = await officeLogins.logIn(body.code, clientAddressOf(req));
      sendCookie(exchange, `${officeLogins.cookieName}=${text}`, maxAgeSeconds);
    },

    logOut: async (exchange: Asked): Promise<undefined> => {
      requireOwnPage(exchange.req, exchange.bases.own);
      for (const cookie of officeCookiesOf(exchange.req, officeLogins.cookieName)) await officeLogins.logOut(cookie);
      sendCookie(exchange, `${officeLogins.cookieName}=`, 0);
    },
  };
}

/** Of no age, the browser forgets it. */
function sendCookie({ res, bases }: Asked, cookie: string, maxAgeSeconds: number): void {
  const secure = bases.own.startsWith('https:') ? '; Secure' : '';
  const rules = `Path=${rootOf(bases.own)}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
  writeHead(res, 204, { 'Set-Cookie': `${cookie}; ${rules}`, 'Cache-Control': 'no-store' });
  res.end();
}
