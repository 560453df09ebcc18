// The reads of Office Mode for browsers: the same routes once more, below `/office/api`, under the guard that takes the cookie (0054).
import type { Route } from '../../frame/route.ts';

const [FROM, TO] = ['/api/v1/office-mode/', '/office/api/'];
/** The view reads them, too: the slots that are in use, and the budgets of teams. */
const BESIDES: ReadonlySet<string> = new Set(['/api/v1/queue', '/api/v1/budgets']);

/** Nothing that writes is there. */
export function mountedForBrowsers(routes: readonly Route[]): Route[] {
  return routes
    .filter(({ method, path }) => method === 'GET' && (path.startsWith(FROM) || BESIDES.has(path)))
    .map((route) => ({ ...route, path: TO + route.path.replace(/^\/api\/v1\/(?:office-mode\/)?/, ''), guard: 'web' }));
}
