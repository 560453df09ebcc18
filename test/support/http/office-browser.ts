// Office Mode for browsers over HTTP and a real store: a browser that has logged in is a cookie.
import { makeFloor } from '../../../src/operations/office/floor.ts';
import type { Administrator } from '../../../src/domain/people/user.ts';
import { makeLoginThrottle } from '../../../src/operations/people/login-throttle.ts';
import { makeOfficeLogins } from '../../../src/operations/people/office-logins.ts';
import { makeUseKey } from '../../../src/operations/people/resolve-key.ts';
import { auditOf } from '../store/audit.ts';
import type { FixtureOptions } from './http-fixture.ts';
import { OPERATOR } from './callers.ts';
import { OFFICE_COOKIE, send } from './http-fixture.ts';
import { openOffice } from './watch-office.ts';

/** Opens it; the user of its key is an administrator, and its key may be one of scope `admin`. */
export async function openForBrowsers(options: FixtureOptions = {}) {
  let logins: ReturnType<typeof makeOfficeLogins> | undefined;
  let floor: ReturnType<typeof makeFloor> | undefined;
  const office = await openOffice({
    ...options,
    operations: {
      createOfficeLink: (...input) => logins!.createOfficeLink(...input),
      officeLogins: {
        identify: (...input) => logins!.officeLogins.identify(...input),
        requireOn: () => logins!.officeLogins.requireOn(),
        logIn: (...input) => logins!.officeLogins.logIn(...input),
        logOut: (...input) => logins!.officeLogins.logOut(...input),
        cookieName: OFFICE_COOKIE,
      },
      getOfficeSnapshot: (...input) => floor!.getOfficeSnapshot(...input),
      ...options.operations,
    },
  });
  const { store, clock, fixture, user } = office;
  const made = await store.keys.create({
    id: 'adminkey',
    userSeq: user.seq,
    name: '',
    scope: 'admin',
    lastFour: 'abcd',
    secretSha256: Buffer.alloc(32),
    model: null,
    target: 'free',
    projectId: null,
    expiresAt: null,
  });
  const { userId: _id, username: _name, ...key } = made;
  logins = makeOfficeLogins({
    store,
    clock,
    audit: auditOf({ store }),
    throttle: makeLoginThrottle(clock),
    useKey: makeUseKey({ store, clock }),
    deriveKey: () => Buffer.alloc(32),
    settings: fixture.parts.settings,
  });
  floor = makeFloor({ store, clock });
  const root: Administrator = { kind: 'key', user, key, reach: 'all', origin: OPERATOR.origin };
  const codeOf = async (caller: Administrator) => (await logins.createOfficeLink(caller)).code;
  const logIn = (code: string, headers: Readonly<Record<string, string>> = {}) =>
    send(fixture, { method: 'POST', path: '/office/login', headers, body: { code } });
  /** The headers of a browser that has logged in. */
  const browser = async (caller: Administrator = root) => {
    const [cookie] = (await logIn(await codeOf(caller))).headers['set-cookie'] ?? [];
    return { cookie: cookie!.split(';')[0]! };
  };
  return { ...office, adminKey: key, root, codeOf, logIn, browser };
}
