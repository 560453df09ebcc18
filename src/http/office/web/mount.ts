// The reads of Office Mode for browsers: the same routes once more, below `/office/api`, under the guard that takes the cookie (0054).
import type { Route } from '../../frame/route.ts';

const [FROM, TO] = ['/api/v1/office-mode/', '/office/api/'];

/** Nothing that writes is there. */
export function mountedForBrowsers(routes: readonly Route[]): Route[] {
  return routes.flatMap((route) =>
    route.method === 'GET' && route.guard === 'office'
      ? [{ ...route, path: route.path.replace(FROM, TO), guard: 'web' as const }]
      : [],
  );
}
